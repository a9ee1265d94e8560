// The bundle of a source tree, rebuilt when a source, a package or the Node version changed. Without the bundler (with
// production packages only) programs run from their sources.
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import { bundlePrograms } from "./bundle.ts";
import { inBundle, processPrograms } from "./programs.ts";
import { keyOfSources } from "./source-key.ts";

/** A program as Node gets it. */
export interface Runnable {
  /** Absolute path. */
  readonly script: string;
  /** Node's compile cache for it; absent: the default for sources. */
  readonly compileCache?: string;
}

/** Folders of the programs' sources. */
const sources = ["services", "gateway", "deploy", "proto/gen"];
/** A running stack may still load parts of an older bundle. */
const keptMax = 5;

const localPrograms = [...Object.values(processPrograms), "deploy/local/mailbox/main.ts"];

const ownRoot = join(import.meta.dirname, "../..");
let made: Promise<string | undefined> | undefined;

/** Starts to build the bundle if it is missing. @returns its folder; undefined: no bundler */
export function prepareBundle(): Promise<string | undefined> {
  made ??= keptBundle(ownRoot, localPrograms);
  made.catch(() => {}); // thrown to the caller that runs a program
  return made;
}

/** @returns the bundled program, or the source if it is not bundled */
export async function findRunnable(script: string): Promise<Runnable> {
  const path = relative(ownRoot, script);
  if (!localPrograms.includes(path)) return { script };
  const folder = await prepareBundle();
  if (folder === undefined) return { script };
  return { script: join(folder, inBundle(path)), compileCache: join(folder, "compiled") };
}

/** Builds the bundle of these sources if it is missing. @returns its folder; undefined: no bundler */
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
  await bundlePrograms(root, programs, fresh);
  // If another process built the same bundle first, its folder stays.
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
