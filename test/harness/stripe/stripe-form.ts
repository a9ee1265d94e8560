// The forms of Stripe's API: read into objects, and checked against the parameter names and enums that the SDK's own
// types publish.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type FormValue = string | FormObject;
export interface FormObject {
  readonly [name: string]: FormValue;
}

/** `a[b][0]=c` as `{ a: { b: { 0: "c" } } }`. */
export function parseForm(text: string): FormObject {
  const root: Record<string, unknown> = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const path = key.replaceAll("]", "").split("[");
    let node = root;
    for (const segment of path.slice(0, -1)) {
      node[segment] ??= {};
      node = node[segment] as Record<string, unknown>;
    }
    node[path.at(-1) ?? ""] = value;
  }
  return root as FormObject;
}

/** The parts of a multipart form by their names, as latin1. */
export function parseParts(text: string, boundary: string): FormObject {
  const parts = text.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf("\r\n\r\n");
      const name = /name="([^"]*)"/.exec(part.slice(0, end))?.[1] ?? "";
      return [name, part.slice(end + 4, -2)];
    }),
  );
}

const resources = join(import.meta.dirname, "../../../node_modules/stripe/esm/resources");
const sources = new Map<string, string>();
// The SDK's files are large, and every request is checked.
const fieldsKnown = new Map<string, ReadonlyMap<string, string>>();
const enumsKnown = new Map<string, string[] | undefined>();

function sourceOf(file: string): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(resources, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  sources.set(file, text);
  return text;
}

/**
 * Fields of a form that the SDK's types do not have: `parameter_unknown: x`, or a value outside its enum.
 * @param type such as `PaymentIntentCreateParams`, with its file below the SDK's resources
 */
export function findMisfits(form: FormObject, file: string, type: string, at = ""): string[] {
  const fields = fieldsOf(file, type);
  return Object.entries(form).flatMap(([name, value]) => {
    const path = at ? `${at}[${name}]` : name;
    const wanted = fields.get(name);
    if (wanted === undefined) return [`parameter_unknown: ${path}`];
    return misfitsOf(value, file, type, wanted, path);
  });
}

function misfitsOf(value: FormValue, file: string, scope: string, wanted: string, path: string): string[] {
  const list = /^Array<(.*)>$/.exec(wanted)?.[1];
  if (list !== undefined) {
    if (typeof value === "string") return [`not a list: ${path}`];
    return Object.entries(value).flatMap(([i, item]) => misfitsOf(item, file, scope, list, `${path}[${i}]`));
  }
  const inner = /^(?:Emptyable<)?(\w+(?:\.\w+)+)>?$/.exec(wanted)?.[1];
  if (inner !== undefined) {
    const words = enumOf(file, inner);
    if (words) return words.includes(String(value)) ? [] : [`not one of ${inner}: ${path}`];
    return typeof value === "string" ? [`not an object: ${path}`] : findMisfits(value, file, inner, path);
  }
  const isScalar = typeof value === "string";
  if (wanted === "number") return isScalar && /^-?\d+$/.test(value) ? [] : [`not an integer: ${path}`];
  if (wanted === "boolean") return value === "true" || value === "false" ? [] : [`not a boolean: ${path}`];
  if (wanted === "string") return isScalar ? [] : [`not a text: ${path}`];
  return [];
}

/**
 * Members of an interface, also of one in a namespace (`A.B`), with those of PaginationParams where it extends them.
 */
function fieldsOf(file: string, type: string): ReadonlyMap<string, string> {
  const name = `${file} ${type}`;
  const known = fieldsKnown.get(name);
  if (known) return known;
  const fields = fieldsIn(file, type);
  fieldsKnown.set(name, fields);
  return fields;
}

function fieldsIn(file: string, type: string): Map<string, string> {
  const body = blockOf(file, type, "interface");
  if (body === undefined) throw new Error(`the SDK has no ${type} in ${file}`);
  const fields = new Map<string, string>();
  let depth = 0;
  for (const line of body.text.split("\n")) {
    const field = depth === 0 ? /^\s*(\w+)\??: (.*);$/.exec(line) : null;
    if (field?.[1] && field[2]) fields.set(field[1], field[2].replace(/ \| null$/, ""));
    depth += (line.match(/{/g)?.length ?? 0) - (line.match(/}/g)?.length ?? 0);
  }
  if (body.head.includes("PaginationParams")) {
    fields.set("limit", "number").set("starting_after", "string").set("ending_before", "string");
  }
  return fields;
}

/** The members of a union of literals; undefined: another type. */
function enumOf(file: string, type: string): string[] | undefined {
  const name = `${file} ${type}`;
  if (!enumsKnown.has(name)) enumsKnown.set(name, enumIn(file, type));
  return enumsKnown.get(name);
}

function enumIn(file: string, type: string): string[] | undefined {
  const [name = "", ...outer] = type.split(".").reverse();
  const scope = outer.length > 0 ? scopeOf(file, outer.reverse()) : sourceOf(file);
  const found = new RegExp(`type ${name} = ([^;]*);`).exec(scope ?? "")?.[1];
  const words = found?.match(/'([^']*)'/g)?.map((literal) => literal.slice(1, -1));
  return words;
}

function blockOf(file: string, type: string, kind: string): { head: string; text: string } | undefined {
  const [name = "", ...outer] = type.split(".").reverse();
  const scope = outer.length > 0 ? scopeOf(file, outer.reverse()) : sourceOf(file);
  return scope === undefined ? undefined : braces(scope, new RegExp(`${kind} ${name}\\b[^{]*{`));
}

function scopeOf(file: string, names: readonly string[]): string | undefined {
  let scope: string | undefined = sourceOf(file);
  for (const name of names) scope = scope && everyBlock(scope, new RegExp(`namespace ${name} {`));
  return scope;
}

/** A namespace may be opened several times. */
function everyBlock(text: string, opening: RegExp): string | undefined {
  const blocks: string[] = [];
  let rest = text;
  for (let found = braces(rest, opening); found; found = braces(rest, opening)) {
    blocks.push(found.text);
    rest = rest.slice(rest.indexOf(found.text) + found.text.length);
  }
  return blocks.length === 0 ? undefined : blocks.join("\n");
}

/** The text between the braces that the pattern opens. */
function braces(text: string, opening: RegExp): { head: string; text: string } | undefined {
  const found = opening.exec(text);
  if (!found) return undefined;
  const start = found.index + found[0].length;
  let depth = 1;
  for (let i = start; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}" && --depth === 0) return { head: found[0], text: text.slice(start, i) };
  }
  return undefined;
}
