// Files that only their owner may read, replaced in one step: a reader sees the old text or the new one, never half of
// it.
import { readFile, rename, writeFile } from "node:fs/promises";

let writes = 0;

/** Writes the text with mode 0600. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const partial = `${path}.${process.pid}-${++writes}`;
  await writeFile(partial, text, { mode: 0o600 });
  await rename(partial, path);
}

/** The text; undefined when there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** A file's JSON object; undefined when it is missing or holds something else. */
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
