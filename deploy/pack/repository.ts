// The package's source repository for npm's manifest: the origin of this clone, unless that is a local folder.
import { spawnSync } from "node:child_process";

export interface Repository {
  readonly type: "git";
  readonly url: string;
  readonly directory: string;
}

/** To spread into a manifest. @param directory of the sources, from the root */
export function repositoryOf(root: string, directory: string): { readonly repository?: Repository } {
  const { stdout } = spawnSync("git", ["remote", "get-url", "origin"], { cwd: root, encoding: "utf8" });
  const url = repositoryUrl((stdout ?? "").trim());
  return url === undefined ? {} : { repository: { type: "git", url, directory } };
}

/** Without user name and password, which the packer's remote URL may contain. */
export function repositoryUrl(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https|ssh):\/\/(?:[^@/]*@)?([^/]+)\/(.+)$/.exec(remote) ??
    /^(?:[^@/]*@)?([^:/]+):(?!\/)(.+)$/.exec(remote) ??
    [];
  return host && path ? `git+https://${host}/${path.replace(/(\.git)?\/*$/, "")}.git` : undefined;
}
