// A key of source files that changes with any of them, so their outputs are rebuilt only then.
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Changes with the installed packages. */
const installed = "node_modules/.package-lock.json";
/** Generated files are not sources. */
const built = /(^|\/)(?:dist|gen|__pycache__)\//;

/**
 * Hashes names, sizes and modification times, and the Node version: a thousand files take 20 ms.
 * @param paths of files and folders, from the root
 * @param isSource filters by the path within its folder
 */
export function keyOfSources(
  root: string,
  paths: readonly string[],
  isSource: (path: string) => boolean = () => true,
): string {
  const hash = createHash("sha256").update(process.version);
  const add = (path: string) => {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  for (const path of [installed, ...paths]) {
    if (statSync(join(root, path)).isFile()) add(path);
    else for (const file of filesIn(join(root, path)).filter(isSource)) add(join(path, file));
  }
  return hash.digest("hex").slice(0, 16);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((path) => !built.test(path))
    .sort();
}
