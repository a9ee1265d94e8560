// A copy of the project in which mutants live, so that the working tree is never touched: every file that git knows or
// would take, with the installed packages behind a link. Whatever the tests leave behind is in it too, and goes with
// it.
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "../harness/temp-dir.ts";
import { type Mutant, mutated } from "./mutant.ts";

export interface Scratch {
  /** The copy's root. */
  readonly root: string;
  /** For everything that its tests write. */
  readonly temporary: string;
  /** The mutant stands in its file until the work is done. */
  with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/** @param root of the project. */
export async function copyProject(root: string): Promise<Scratch> {
  const home = await tempDir("mutants");
  const [copy, temporary] = [join(home, "project"), join(home, "tmp")];
  for (const dir of [copy, temporary]) {
    await mkdir(dir);
    await chmod(dir, 0o711); // servers may run as another user
  }
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const path of new Set(list.toString().split("\0"))) {
    if (path !== "") await cp(join(root, path), join(copy, path), { force: true }).catch(ignoreRemoved);
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return {
    root: copy,
    temporary,
    async with(mutant, work) {
      const path = join(copy, mutant.file);
      const text = await readFile(path, "utf8");
      await writeFile(path, mutated(mutant, text));
      try {
        return await work();
      } finally {
        await writeFile(path, text);
      }
    },
    // A server that was ended may still be writing its last lines.
    remove: () => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/** A file that git still lists and somebody has removed from the working tree. */
function ignoreRemoved(error: Error): void {
  if (!("code" in error) || error.code !== "ENOENT") throw error;
}
