// Reads a request body: strict UTF-8 and JSON, one object. Refuses valid JSON that parsers read differently: duplicate
// keys, `__proto__`, NUL, unpaired surrogates and deep nesting.
import { entryName, type Violation } from "#platform/values/failure.ts";
import { ApiError } from "../../failures.ts";

/** docs/contract.md §1. */
export const bodyMaxBytes = 64 * 1024;
// Known fields are at most 3 levels deep; the rest is for unknown ones.
const depthMax = 32;
// docs/contract.md §2.
const violationsMax = 20;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns undefined for an empty body.
 * @throws ApiError invalid_body.
 */
export function parseBody(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes.length === 0) return undefined;
  const text = decoded(bytes);
  const value = parsed(text);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw refused("", "must be a JSON object");
  const violations: Violation[] = [];
  inspect(value, [], violations);
  const twice = findDuplicateKey(text);
  if (twice !== undefined) violations.push({ field: twice, problem: "is given more than once" });
  if (violations.length > 0) throw new ApiError("invalid_body", { violations });
  return Object.fromEntries(Object.entries(value));
}

function refused(field: string, problem: string): ApiError {
  return new ApiError("invalid_body", { violations: [{ field, problem }] });
}

function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refused("", "must be UTF-8");
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw refused("", "must be valid JSON");
  }
}

/** Checks every key and string down to the depth limit. */
function inspect(value: Json, path: FieldPath, violations: Violation[]): void {
  if (violations.length >= violationsMax) return;
  if (typeof value === "string") {
    const problem = textProblem(value);
    if (problem) violations.push({ field: fieldName(path), problem });
    return;
  }
  if (value === null || typeof value !== "object") return;
  if (path.length >= depthMax) {
    violations.push({ field: fieldName(path.slice(0, 1)), problem: `must not be nested deeper than ${depthMax}` });
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) inspect(inner, [...path, index], violations);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const problem = key === "__proto__" ? "is not allowed as a name" : textProblem(key);
    if (problem) violations.push({ field: fieldName([...path, key]), problem });
    else inspect(inner, [...path, key], violations);
  }
}

function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain a NUL character";
  if (!text.isWellFormed()) return "must be well-formed Unicode";
  return undefined;
}

// Longest field name in a response; metadata keys have at most 40 characters.
const nameMax = 64;

/** Member names and list indexes. */
export type FieldPath = readonly (string | number)[];

/** Formats a path, short and printable: `metadata.order`, `line_items[3].name`, `scopes[0]`. */
export function fieldName(path: FieldPath): string {
  return path.reduce<string>((name, segment) => {
    if (typeof segment === "number") return entryName(name, segment);
    const own = segment.toWellFormed().replaceAll("\0", "�").slice(0, nameMax);
    return name === "" ? own : `${name}.${own}`;
  }, "");
}

/** The first duplicate key of an object, of which JSON.parse keeps the last silently. `text` is valid JSON. */
function findDuplicateKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  // Strings, with the colon that marks a key, and brackets.
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;
  for (const match of text.matchAll(token)) {
    const [found, colon] = match;
    if (found === "{") open.push(new Set());
    else if (found === "[") open.push(undefined);
    else if (found === "}" || found === "]") open.pop();
    else if (colon !== undefined) {
      const keys = open.at(-1);
      const key: string = JSON.parse(found.slice(0, -colon.length));
      if (keys?.has(key)) return fieldName([key]);
      keys?.add(key);
    }
  }
  return undefined;
}
