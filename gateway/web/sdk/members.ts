// What came from outside and nobody has checked yet (JSON, a message): its members, as unknown.
// `Object(value)` would answer the same with the type any, which no compiler looks at any more.

export type Members = Readonly<Record<string, unknown>>;

// The members of an object or a list; anything else has none.
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}
