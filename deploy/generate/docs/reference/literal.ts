// JSON as a literal of JavaScript or Python, over several lines where it is wide.
import { membersOf } from "#platform/values/unchecked.ts";

const widthMax = 76;

/** @param indent columns before the line that it begins on */
export function scriptLiteral(value: unknown, indent = 0): string {
  return literal(value, indent, (name) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)), ["{ ", " }"]);
}

/** Without the line breaks of JSON: lists and objects of one entry stay on their line. */
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
