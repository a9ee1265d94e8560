// The bill of materials of the packages that run, from the lock file, in both usual formats. npm gives each a random
// id and its time; here both follow from the commit.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Source } from "./provenance.ts";

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

export function makeSbom(root: string, format: "spdx" | "cyclonedx", { commit, seconds }: Source): string {
  const hash = createHash("sha256").update(commit).digest("hex");
  const id = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  const time = new Date(seconds * 1000).toISOString();
  const dir = mkdtempSync(join(tmpdir(), "tollbooth-sbom-"));
  try {
    // npm names the root by its folder.
    const cwd = join(dir, "tollbooth");
    mkdirSync(cwd);
    // `npm sbom --omit dev` also omits packages that a development package shares.
    const lock: LockFile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
    const running = Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional);
    const packages = Object.fromEntries(running);
    const own = { ...packages[""], devDependencies: {} };
    writeFileSync(join(cwd, "package-lock.json"), JSON.stringify({ ...lock, packages: { ...packages, "": own } }));
    const manifest: object = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ ...manifest, devDependencies: {} }));
    const args = ["sbom", "--package-lock-only", "--sbom-format", format];
    const text = execFileSync("npm", args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
    return text.replace(uuid, id).replace(/("(?:created|timestamp)": )"[^"]*"/, `$1"${time}"`);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
