// Typed access to unchecked external data, such as JSON or a message.

export type Members = Readonly<Record<string, unknown>>;

/** Members of an object or array; empty for other values. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}

/** A member to spread into an object; empty without a value. */
export function optionalMember<K extends string, T>(name: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: T });
}
