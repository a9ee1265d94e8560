// JSON as a JavaScript or Python literal, broken over lines if wide.
import { membersOf } from "#platform/values/unchecked.ts";

const widthMax = 76;

/** @param indent of the line that it starts on */
export function scriptLiteral(value: unknown, indent = 0): string {
  return literal(value, indent, (name) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)), ["{ ", " }"]);
}

/** Unlike JSON, keeps lists and objects with one entry on their line. */
export function pythonLiteral(value: unknown, indent = 0): string {
  return literal(value, indent, (name) => JSON.stringify(name), ["{", "}"], 4);
}

function literal(
  value: unknown,
  indent: number,
  nameOf: (name: string) => string,
  braces: readonly [string, string],
  step = 2,
): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = (each: unknown) => literal(each, indent + step, nameOf, braces, step);
  const parts = isList
    ? value.map(inner)
    : Object.entries(membersOf(value)).map(([name, each]) => `${nameOf(name)}: ${inner(each)}`);
  const [open, close] = isList ? (["[", "]"] as const) : braces;
  const line = `${open}${parts.join(", ")}${close}`;
  if (indent + line.length <= widthMax && !line.includes("\n")) return line;
  const pad = " ".repeat(indent + step);
  return `${open.trim()}\n${parts.map((entry) => `${pad}${entry},\n`).join("")}${" ".repeat(indent)}${close.trim()}`;
}
