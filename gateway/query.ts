// Reads a query string. A repeated name becomes a list, which every schema refuses. Bytes that are not UTF-8 become
// U+FFFD (WHATWG URL) and are refused in the operation's own parameters.
import type { Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";

// The longest list operation has 9 parameters. Further ones are dropped.
const parametersMax = 64;

/** Never throws, since the router does not catch; `textViolations` reports problems. */
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

/**
 * Problems in the texts of the operation's own parameters.
 * @param url raw URL of the request
 */
export function textViolations(schema: object, query: unknown, url: string): Violation[] {
  const violations: Violation[] = [];
  const values = membersOf(query);
  for (const name of Object.keys(membersOf(membersOf(schema).properties))) {
    const texts = [values[name]].flat().filter((text) => typeof text === "string");
    if (texts.some((text) => text.includes("\0"))) {
      violations.push({ field: name, problem: "must not contain a NUL character" });
    } else if (texts.some((text) => text.includes(replacement)) && !isUtf8(url, name)) {
      violations.push({ field: name, problem: "must be UTF-8" });
    }
  }
  return violations;
}

// Decoding maps invalid bytes to it, but a caller may also send it validly, as three bytes.
const replacement = "\ufffd";
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** True if all values of a parameter are valid UTF-8. */
function isUtf8(url: string, name: string): boolean {
  const [, ...rest] = url.split("?");
  const pairs = rest.join("?").split("&", parametersMax);
  return pairs
    .filter((pair) => new URLSearchParams(pair).has(name))
    .every((pair) => (pair.match(/(?:%[0-9a-f]{2})+/gi) ?? []).every(decodes));
}

function decodes(escaped: string): boolean {
  try {
    utf8.decode(Buffer.from(escaped.replaceAll("%", ""), "hex"));
    return true;
  } catch {
    return false;
  }
}

const canonicalInteger = /^(?:0|-?[1-9][0-9]{0,18})$/;
const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/**
 * Converts integer parameters from canonical decimal. Other forms (" 5", "05", "1e3", "0x10") and repeated parameters
 * stay unconverted, and the schema refuses them.
 */
export function numbersOf(schema: object, query: unknown): Record<string, unknown> {
  const properties = membersOf(membersOf(schema).properties);
  // No prototype: `__proto__` is an unknown name like any other.
  const converted: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(membersOf(query))) {
    const isInteger = Object.hasOwn(properties, name) && membersOf(properties[name]).type === "integer";
    converted[name] = isInteger && typeof value === "string" ? numberOf(value) : value;
  }
  return converted;
}

/**
 * The number, or the text if it is not a canonical int64. Values beyond 2^53 are clamped: amounts end at 99,999,999,
 * so the bound means the same.
 */
function numberOf(text: string): number | string {
  if (!canonicalInteger.test(text)) return text;
  const value = BigInt(text);
  if (value > int64Max || value < int64Min) return text;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  if (value < BigInt(Number.MIN_SAFE_INTEGER)) return Number.MIN_SAFE_INTEGER;
  return Number(value);
}
