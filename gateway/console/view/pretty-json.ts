// The bytes of a JSON body as people read them. Numbers stay as they were written: they may not fit into a double.

/** As it is, where it is no JSON that comes back the same. */
export function prettyJson(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("utf8");
  try {
    const read: unknown = JSON.parse(text);
    return JSON.stringify(read) === text.trim() ? JSON.stringify(read, undefined, 2) : text;
  } catch {
    return text;
  }
}
