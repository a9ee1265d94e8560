// Lists the files of a release folder with their SHA-256, as SHA256SUMS has them (`sha256sum -c` reads it).
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export const sumsName = "SHA256SUMS";
export const signatureName = "SHA256SUMS.sig";
export const statementName = "provenance.intoto.json";

/** Digests by the file's path in the folder, sorted. */
export type Digests = ReadonlyMap<string, string>;

/** @param except files of these names are left out */
export async function digestsOf(folder: string, except: readonly string[]): Promise<Digests> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({
      path: relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"),
      isPlain: entry.isFile(),
    }))
    .filter(({ path }) => !except.includes(path))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const digests = new Map<string, string>();
  // A link has no digest, so it differs from every released file.
  for (const { path, isPlain } of files) digests.set(path, isPlain ? await digestOf(join(folder, path)) : "a link");
  return digests;
}

/** Reads an image of several hundred megabytes in parts. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file)) hash.update(part);
  return hash.digest("hex");
}

export function formatSums(digests: Digests): string {
  return [...digests].map(([path, digest]) => `${digest}  ${path}\n`).join("");
}

/** @returns undefined if a line is not `digest  path` or a path occurs twice */
export function parseSums(text: string): Digests | undefined {
  const digests = new Map<string, string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, digest, path] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (digest === undefined || path === undefined || digests.has(path)) return undefined;
    digests.set(path, digest);
  }
  return text.endsWith("\n") ? digests : undefined;
}
