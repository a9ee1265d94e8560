// Reads a query string: UTF-8 without NUL, each name once. A name given twice becomes a list, which no schema takes;
// what is not UTF-8 becomes U+FFFD, as WHATWG says, and is refused where it is a parameter's.
import type { Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";

// The longest list operation has 9 parameters. Those beyond are not even kept.
const parametersMax = 64;

/** Never throws: the router, which calls it, would pass a throw on to nobody. textViolations says what is wrong. */
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
 * What is wrong with the texts of parameters that the operation has, before any schema; others are unknown as a whole.
 * @param url of the request, as it came
 */
export function textViolations(schema: object, query: unknown, url: string): Violation[] {
  const violations: Violation[] = [];
  const values = membersOf(query);
  for (const name of Object.keys(membersOf(membersOf(schema).properties))) {
    const texts = [values[name]].flat().filter((text) => typeof text === "string");
    if (texts.some((text) => text.includes("\0"))) {
      violations.push({ field: name, problem: "must not hold a NUL character" });
    } else if (texts.some((text) => text.includes(replacement)) && !isUtf8(url, name)) {
      violations.push({ field: name, problem: "must be UTF-8" });
    }
  }
  return violations;
}

// What decoding makes of bytes that are not UTF-8; a caller may send it too, as three bytes.
const replacement = "\ufffd";
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Whether the bytes of every value of a parameter are UTF-8. */
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
