// Files that only their owner may read. A write replaces the whole file by a rename, so readers never see a partial
// file.

import { readFile, rename, writeFile } from "node:fs/promises";
import { errorCode } from "#platform/values/unchecked.ts";

let writes = 0;

/** Mode 0600. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const partial = `${path}.${process.pid}-${++writes}`;
  await writeFile(partial, text, { mode: 0o600 });
  await rename(partial, path);
}

/** @returns undefined if the file does not exist */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @returns the file's JSON object; undefined if it is missing or holds another value */
export async function readObject(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
