// Generated files outside git: files for browsers, parts of the server libraries, the pages of /docs. Each output is
// replaced as a whole and stores the key of its sources.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { keyOfSources } from "../bundle/source-key.ts";

interface Output {
  /** Contain nothing else. */
  readonly folders: readonly string[];
  readonly script: string;
}

export const outputs = {
  web: { folders: ["gateway/web/dist"], script: "deploy/generate/web.ts" },
  clients: {
    folders: ["gateway/clients/node/gen", "gateway/clients/python/tollbooth/gen"],
    script: "deploy/generate/clients.ts",
  },
  docs: { folders: ["gateway/site/dist"], script: "deploy/generate/docs.ts" },
} as const satisfies Record<string, Output>;
export type OutputName = keyof typeof outputs;

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const keyName = ".sources";
const sources = ["services", "gateway", "deploy/generate", "proto/gen", "docs", "CHANGELOG.md", "package.json"];

/** One list of sources for all outputs, so none can miss one. Cached, since reading takes 50 ms. */
let key: string | undefined;
const currentKey = () => (key ??= keyOfSources(root, sources));

export function isCurrent(name: OutputName): boolean {
  return outputs[name].folders.every((folder) => readText(join(root, folder, keyName)) === currentKey());
}

/** Builds it in a child process unless it is current. */
export async function ensureBuilt(name: OutputName, signal?: AbortSignal): Promise<void> {
  if (isCurrent(name)) return;
  await run(process.execPath, [join(root, outputs[name].script)], { ...(signal && { signal }) });
}

/** Removes it unless it is current. */
export async function removeStale(name: OutputName): Promise<void> {
  if (isCurrent(name)) return;
  for (const folder of outputs[name].folders) await rm(join(root, folder), { recursive: true, force: true });
}

/** Replaces the output. @param make returns its files by their paths from the root */
export async function writeOutput(
  name: OutputName,
  make: () => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>,
): Promise<void> {
  const builtFrom = currentKey(); // read first: a later change makes the output stale
  const files = await make();
  const { folders } = outputs[name];
  const fresh = join(root, ".local-cache", `${name}-${randomUUID()}`);
  try {
    for (const [path, text] of [...files, ...folders.map((folder) => [join(folder, keyName), builtFrom] as const)]) {
      await mkdir(dirname(join(fresh, path)), { recursive: true });
      await writeFile(join(fresh, path), text);
    }
    for (const folder of folders) {
      await rm(join(root, folder), { recursive: true, force: true });
      await rename(join(fresh, folder), join(root, folder));
    }
  } catch (error) {
    // A parallel process built the same output first.
    if (!isCurrent(name)) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  console.log(`wrote ${folders.join(" and ")}: ${files.size} files`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
