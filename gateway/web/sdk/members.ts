// What came from outside and nobody has checked yet (JSON, a message): its members, as unknown.
// `Object(value)` would answer the same with the type any, which no compiler looks at any more.

export type Members = Readonly<Record<string, unknown>>;

// The members of an object or a list; anything else has none.
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}

/** A member to spread into an object, which has it only where there is a value. */
export function optionalMember<K extends string, T>(name: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: T });
}
