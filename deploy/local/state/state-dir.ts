// The folder that holds everything a stack keeps. One stack at a time: a lock names the process that uses it, and a
// lock left by a killed process is taken over.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, link, mkdir, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inspectProcess } from "../process/process-table.ts";
import { reasonOf, StartError } from "../start-error.ts";
import { readObject } from "./private-file.ts";

/** The locked folder. */
export interface StateDir {
  /** Absolute. */
  path: string;
  /** Lets another stack use it. */
  release(): Promise<void>;
}

/** Each try is lost to another start that got further; after these it has the folder. */
const lockTriesMax = 5;
/** Removing a stale lock takes milliseconds; a claim to do so that is this old was left by a killed start. */
const claimMsMax = 10_000;

/** Makes the folder if needed and locks it. */
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

/** Level by level: Node's own `recursive` never returns in folders like /proc, where nothing can be made. */
async function makeDir(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path || existsSync(dirname(path))) throw error;
    await makeDir(dirname(path));
    return makeDir(path);
  }
  // as root, PostgreSQL runs as another user, who must be able to pass through
  await chmod(path, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** The lock appears whole, by a link to a finished file: nobody ever reads half of it. */
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

/** @returns false when the lock is there already */
async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function isAlive(holder: Record<string, unknown>): boolean {
  return typeof holder.pid === "number" && inspectProcess(holder.pid)?.birth === holder.birth;
}

/**
 * Removes the stale lock, and only that. One start at a time may remove, so that what it has just read is what it
 * removes.
 */
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
    // One that is there stays what it is, since only we may remove; where none is, another start may be making its own
    // right now.
    if (!existsSync(file)) return;
    const now = await readObject(file);
    if (now?.pid === stale?.pid && now?.birth === stale?.birth) await rm(file, { force: true });
  } finally {
    await rmdir(claim);
  }
}
