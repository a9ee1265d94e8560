// Typed access to unchecked external data.

export type Members = Readonly<Record<string, unknown>>;

/** Members of an object or array; empty for other values. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
