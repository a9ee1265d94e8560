// Finds the previous release in the repository's history and unpacks its code with the packages that it needs. A clone
// may lack that history.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Release } from "../harness/servers/pods.ts";

const run = promisify(execFile);

/** There is no release to compare with; the message has the reason and a remedy. */
export class NoEarlierRelease extends Error {
  override name = "NoEarlierRelease";
}

/** The reference is not in this clone. */
export class UnknownReference extends Error {
  override name = "UnknownReference";
}

/** A commit and its name. */
export interface Found {
  readonly name: string;
  readonly commit: string;
}

/**
 * The commit to compare with.
 * @param root the repository's folder
 * @param revision a tag, branch or commit; default: the newest tag before the current commit, or without tags the
 * commit
 * before the newest migration, the last one on another schema
 */
export async function findEarlier(root: string, revision?: string): Promise<Found> {
  if ((await git(root, "rev-parse", "--git-dir")) === undefined) {
    throw new NoEarlierRelease("this folder is no git clone with history");
  }
  if (revision !== undefined) {
    const commit = await git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`);
    if (commit === undefined)
      throw new UnknownReference(`${revision} is not in this clone; git fetch --tags may bring it`);
    return { name: revision, commit };
  }
  const tag = await git(root, "describe", "--tags", "--abbrev=0", "HEAD^");
  const reference = tag ?? (await beforeNewestMigration(root));
  const commit = reference && (await git(root, "rev-parse", "--verify", "--quiet", `${reference}^{commit}`));
  if (reference && commit) return { name: tag ?? commit.slice(0, 7), commit };
  const isShallow = (await git(root, "rev-parse", "--is-shallow-repository")) === "true";
  throw new NoEarlierRelease(
    isShallow
      ? "this clone is shallow: git fetch --unshallow --tags brings the releases before"
      : "there is neither a tag before this commit nor a state before its migrations",
  );
}

/** The parent of the newest migration's commit. */
async function beforeNewestMigration(root: string): Promise<string | undefined> {
  const added = await git(root, "log", "-1", "--format=%H", "--diff-filter=A", "--", "services/*.sql");
  return added ? `${added}^` : undefined;
}

/** Unpacks a commit into an empty folder, ready to run. @param log called before packages are installed */
export async function unpackRelease(
  root: string,
  found: Found,
  into: string,
  log: (line: string) => void,
): Promise<Release> {
  const archive = join(into, "code.tar");
  const code = join(into, "code");
  await mkdir(code);
  await run("git", ["archive", "--format=tar", `--output=${archive}`, found.commit], { cwd: root });
  await run("tar", ["-xf", archive, "-C", code]);
  await rm(archive);
  if ((await lockedPackages(code)) === (await lockedPackages(root))) {
    await symlink(join(root, "node_modules"), join(code, "node_modules"));
  } else {
    log(`${found.name} has other packages: npm ci, once`);
    await cp(join(root, ".npmrc"), join(code, ".npmrc"));
    await run("npm", ["ci", "--ignore-scripts", "--no-progress"], { cwd: code, maxBuffer: 16 * 1024 * 1024 });
  }
  // Files for browsers are not in git; a release that has them in git has no such script.
  const browserFiles = join(code, "deploy/generate/web.ts");
  if (existsSync(browserFiles)) await run(process.execPath, [browserFiles], { cwd: code });
  return { name: found.name, root: code };
}

/** The locked packages without the project itself, whose version changes with each release. */
async function lockedPackages(folder: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  return JSON.stringify({ ...packages, "": undefined });
}

/** Output of git; undefined if it fails or is missing. */
async function git(root: string, ...args: string[]): Promise<string | undefined> {
  return run("git", args, { cwd: root }).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );
}
