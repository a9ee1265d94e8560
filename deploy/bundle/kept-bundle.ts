// The bundle of a checkout, made when a source, a package or Node is another than when the last one was made. Without
// the bundler (the packages of production alone) programs run from their sources.
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import { bundle } from "./bundle.ts";
import { inBundle, processPrograms } from "./programs.ts";
import { keyOfSources } from "./source-key.ts";

/** What to give to Node for a program. */
export interface Runnable {
  /** Absolute path. */
  readonly script: string;
  /** Where Node keeps what it compiled of it; absent: where it does for sources. */
  readonly compileCache?: string;
}

/** Folders of all that programs are made of. */
const sources = ["services", "gateway", "deploy", "proto/gen"];
/** A stack that runs may still load parts of an older one. */
const keptMax = 5;

const localPrograms = [...Object.values(processPrograms), "deploy/local/mailbox/main.ts"];

const ownRoot = join(import.meta.dirname, "../..");
let made: Promise<string | undefined> | undefined;

/** Begins to make the bundle of this checkout, where there is none. @returns its folder; undefined: no bundler */
export function prepareBundle(): Promise<string | undefined> {
  made ??= keptBundle(ownRoot, localPrograms);
  made.catch(() => {}); // told to whoever runs a program
  return made;
}

/** @returns the program in the bundle of this checkout; itself where there is no bundle of it */
export async function findRunnable(script: string): Promise<Runnable> {
  const path = relative(ownRoot, script);
  if (!localPrograms.includes(path)) return { script };
  const folder = await prepareBundle();
  if (folder === undefined) return { script };
  return { script: join(folder, inBundle(path)), compileCache: join(folder, "compiled") };
}

/**
 * Makes a bundle where there is none of exactly these sources.
 * @returns its folder; undefined: there is no bundler
 */
export async function keptBundle(root: string, programs: readonly string[]): Promise<string | undefined> {
  if (!existsSync(join(root, "node_modules/esbuild/package.json"))) return undefined;
  const cache = join(root, ".local-cache/bundles");
  const folder = join(
    cache,
    keyOfSources(root, sources, (path) => /\.(ts|json)$/.test(path)),
  );
  if (existsSync(folder)) {
    const now = new Date();
    await utimes(folder, now, now);
    return folder;
  }
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, "making-"));
  await bundle(root, programs, fresh);
  // Where another process made the same, the one that was first stands.
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  await forgetOldest(cache);
  return folder;
}

async function forgetOldest(cache: string): Promise<void> {
  const folders = (await readdir(cache)).map((name) => join(cache, name));
  const usedAt = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byUse = folders.map((folder) => ({ folder, at: usedAt(folder) })).sort((a, b) => b.at - a.at);
  for (const { folder } of byUse.slice(keptMax)) await rm(folder, { recursive: true, force: true });
}
