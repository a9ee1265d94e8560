// What came from outside and nobody has checked yet: its members, as unknown.

export type Members = Readonly<Record<string, unknown>>;

/** The members of an object or a list; anything else has none. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
