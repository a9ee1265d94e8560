// Query parameters are text; those that a schema calls integers become numbers here, strictly: canonical decimal only,
// so that " 5", "+5", "05", "1e3", "1.0", "0x10" stay text and are refused by the schema. A parameter given twice is
// refused likewise.
import { membersOf } from "#platform/values/unchecked.ts";

const canonicalInteger = /^(?:0|-?[1-9][0-9]{0,18})$/;
const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** The query with its integers as numbers. */
export function numbersOf(schema: object, query: unknown): Record<string, unknown> {
  const properties = membersOf(membersOf(schema).properties);
  // Without a prototype: `__proto__` is a name like any other, and unknown.
  const converted: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(membersOf(query))) {
    const isInteger = Object.hasOwn(properties, name) && membersOf(properties[name]).type === "integer";
    converted[name] = isInteger && typeof value === "string" ? numberOf(value) : value;
  }
  return converted;
}

/**
 * The number, or the text itself when it is not a canonical int64. Beyond 2^53 it is clamped to the largest exact
 * integer: an amount or an offset is never near it (amounts end at 99,999,999), so the bound means the same.
 */
function numberOf(text: string): number | string {
  if (!canonicalInteger.test(text)) return text;
  const value = BigInt(text);
  if (value > int64Max || value < int64Min) return text;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  if (value < BigInt(Number.MIN_SAFE_INTEGER)) return Number.MIN_SAFE_INTEGER;
  return Number(value);
}
