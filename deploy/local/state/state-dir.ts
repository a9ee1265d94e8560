// The folder of a stack's data. A lock file names the process that uses it; the lock of a killed process is taken over.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, link, mkdir, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "#platform/values/unchecked.ts";
import { inspectProcess } from "../process/process-table.ts";
import { reasonOf, StartError } from "../start-error.ts";
import { readObject } from "./private-file.ts";

export interface StateDir {
  /** Absolute. */
  path: string;
  /** Releases the lock. */
  release(): Promise<void>;
}

/** Each lost try means that another start got further. */
const lockTriesMax = 5;
/** Removing a stale lock takes milliseconds; an older claim was left by a killed start. */
const claimMsMax = 10_000;

/** Creates the folder if needed and locks it. */
export async function openStateDir(path: string): Promise<StateDir> {
  try {
    await makeDir(path);
    await lock(path);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `cannot write to the state directory ${path} (${reasonOf(error)}): choose another with STATE_DIR`,
    );
  }
  return { path, release: () => rm(join(path, "lock"), { force: true }) };
}

/** Level by level, since Node's `recursive` never returns for folders such as /proc. */
async function makeDir(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path || existsSync(dirname(path))) throw error;
    await makeDir(dirname(path));
    return makeDir(path);
  }
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  await chmod(path, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** Links a finished file to the lock's path, so no process reads a partial lock. */
async function lock(dir: string): Promise<void> {
  const file = join(dir, "lock");
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify({ pid: process.pid, birth: inspectProcess(process.pid)?.birth ?? "" }));
  try {
    for (let attempt = 0; attempt < lockTriesMax; attempt++) {
      if (await linked(draft, file)) return;
      const holder = await readObject(file);
      if (holder && isAlive(holder)) {
        throw new StartError(
          `a stack is already running on ${dir} (pid ${holder.pid}): stop it, or start another one with STATE_DIR and PORT`,
        );
      }
      await removeStale(file, holder);
    }
  } finally {
    await unlink(draft);
  }
  throw new StartError(`${file} cannot be locked: another start on ${dir} is under way`);
}

/** @returns false if the lock exists already */
async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isAlive(holder: Record<string, unknown>): boolean {
  return typeof holder.pid === "number" && inspectProcess(holder.pid)?.birth === holder.birth;
}

/** Removes the stale lock. The claim lets one start at a time remove, so it removes exactly the lock that it read. */
async function removeStale(file: string, stale: Record<string, unknown> | undefined): Promise<void> {
  const claim = `${file}.stale`;
  try {
    await mkdir(claim);
  } catch {
    const age = await stat(claim).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > claimMsMax) await rmdir(claim).catch(() => {});
    return;
  }
  try {
    // Only the holder of the claim removes a lock. If none exists, another start may be creating its own.
    if (!existsSync(file)) return;
    const now = await readObject(file);
    if (now?.pid === stale?.pid && now?.birth === stale?.birth) await rm(file, { force: true });
  } finally {
    await rmdir(claim);
  }
}
