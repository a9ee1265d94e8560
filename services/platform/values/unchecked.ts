// Reads unchecked values (JSON, thrown values, router params) as unknown; `Object(value)` would return any.

export type Members = Readonly<Record<string, unknown>>;

/** Members of an object or a list; empty for anything else. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}

/** The `code` of a network, database or library error; empty for any other value. */
export function errorCode(error: unknown): string {
  const { code } = membersOf(error);
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}
