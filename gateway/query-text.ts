// Reads a query string: text without NUL, each name once. A name given twice becomes a list, which no schema takes;
// what is not UTF-8 after decoding becomes U+FFFD, as WHATWG says.
import type { TSchema } from "typebox";
import { membersOf } from "#platform/values/members.ts";
import { ApiError } from "./failures.ts";

// The longest list operation has 9 parameters. Those beyond are not even kept.
const parametersMax = 64;

/** Never throws: the router, which calls it, would pass a throw on to nobody. checkQuery refuses what is wrong. */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > parametersMax) break;
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

/** Refuses a NUL in a parameter that the operation has; others are ignored. @throws ApiError invalid_body. */
export function checkQuery(schema: TSchema, query: unknown): void {
  const known = "properties" in schema ? Object.keys(membersOf(schema.properties)) : [];
  for (const name of known) {
    const texts = [membersOf(query)[name]].flat();
    if (!texts.some((text) => typeof text === "string" && text.includes("\0"))) continue;
    throw new ApiError("invalid_body", { violations: [{ field: name, problem: "must not hold a NUL character" }] });
  }
}
