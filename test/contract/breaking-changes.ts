// Breaks between an earlier release's OpenAPI document and a later one (docs/contract.md §12): a missing operation,
// field, code or value, and an input that is no longer accepted. Additions are no break.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { documentedPattern } from "../../gateway/http/own-formats.ts";

type Json = unknown;

interface Documents {
  readonly earlier: Json;
  readonly later: Json;
}

/** Which way values travel: what callers send must stay accepted, what they are answered must stay as it was. */
type Direction = "sent" | "answered";

/** @returns a line for each break, with its path; empty: compatible */
export function breakingChanges(earlier: Json, later: Json): string[] {
  const documents = { earlier, later };
  return [...entries(earlier, "paths")].flatMap(([path, item]) =>
    Object.entries(membersOf(item)).flatMap(([method, operation]) => {
      const where = `${method.toUpperCase()} ${path}`;
      const now = membersOf(membersOf(membersOf(later).paths)[path])[method];
      return now === undefined ? [`${where}: gone`] : operationBreaks(documents, where, operation, now);
    }),
  );
}

function operationBreaks(documents: Documents, where: string, was: Json, is: Json): string[] {
  return [
    ...(membersOf(was).operationId === membersOf(is).operationId ? [] : [`${where}: its operationId is another`]),
    ...parameterBreaks(documents, where, was, is),
    ...schemaBreaks(documents, "sent", `${where}: body`, bodyOf(was), bodyOf(is)),
    ...Object.entries(membersOf(membersOf(was).responses)).flatMap(([status, answer]) => {
      const now = membersOf(membersOf(is).responses)[status];
      if (now === undefined) return [`${where}: ${status} is gone`];
      const [before, after] = [resolve(documents.earlier, answer), resolve(documents.later, now)];
      return schemaBreaks(documents, "answered", `${where}: ${status}`, contentOf(before), contentOf(after));
    }),
  ];
}

function parameterBreaks(documents: Documents, where: string, was: Json, is: Json): string[] {
  const before = parametersOf(documents.earlier, was);
  const after = parametersOf(documents.later, is);
  return [
    ...[...before].flatMap(([name, parameter]) => {
      const now = after.get(name);
      if (!now) return [`${where}: parameter ${name} is gone`];
      const at = `${where}: parameter ${name}`;
      return [
        ...(now.required === true && parameter.required !== true ? [`${at} is needed now`] : []),
        ...schemaBreaks(documents, "sent", at, parameter.schema, now.schema),
      ];
    }),
    ...[...after].flatMap(([name, parameter]) =>
      parameter.required === true && !before.has(name) ? [`${where}: parameter ${name} is new and needed`] : [],
    ),
  ];
}

/** Bounds of which a smaller (or greater) one takes something back from callers. */
const upper = ["maxLength", "maximum", "maxItems", "maxProperties"] as const;
const lower = ["minLength", "minimum", "minItems", "minProperties"] as const;

function schemaBreaks(documents: Documents, direction: Direction, where: string, was: Json, is: Json): string[] {
  if (was === undefined) return [];
  if (is === undefined) return [`${where} is gone`];
  const before = resolve(documents.earlier, was);
  const after = resolve(documents.later, is);
  return [
    ...typeBreaks(direction, where, before, after),
    ...valueBreaks(direction, where, before, after),
    ...(direction === "sent" ? boundBreaks(where, before, after) : []),
    ...propertyBreaks(documents, direction, where, before, after),
    ...schemaBreaks(
      documents,
      direction,
      `${where}[]`,
      before.items,
      before.items === undefined ? undefined : after.items,
    ),
  ];
}

/** Types that may be sent are not fewer, those that are answered not more. */
function typeBreaks(direction: Direction, where: string, before: Members, after: Members): string[] {
  const [wide, narrow] = direction === "sent" ? [after, before] : [before, after];
  const allowed = typesOf(wide);
  const more = typesOf(narrow).filter((type) => allowed.length > 0 && !allowed.includes(type));
  return more.length > 0 ? [`${where}: type ${typesOf(before).join("|")} became ${typesOf(after).join("|")}`] : [];
}

/** Values that may be sent stay; of those that are answered more may come. */
function valueBreaks(direction: Direction, where: string, before: Members, after: Members): string[] {
  const [was, is] = [valuesOf(before), valuesOf(after)];
  if (is.length === 0) return [];
  if (was.length === 0) return direction === "sent" ? [`${where}: takes ${is.join(", ")} only`] : [];
  return was.filter((value) => !is.includes(value)).map((value) => `${where}: value ${String(value)} is gone`);
}

/** The rejection of control characters in texts for people is an allowed break; else a pattern equals the format. */
function boundBreaks(where: string, before: Members, after: Members): string[] {
  const [most, least] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const narrower = [
    ...upper.filter((bound) => number(after[bound], most) < number(before[bound], most)),
    ...lower.filter(
      (bound) => number(after[bound], least) > Math.max(number(before[bound], least), leastOf(bound, before)),
    ),
  ];
  const isDocumented = after.pattern === documentedPattern(after.format, before.pattern);
  const isOther = after.pattern !== undefined && after.pattern !== before.pattern && !isDocumented;
  const pattern = isOther ? ["pattern"] : [];
  return [...narrower, ...pattern].map(
    (bound) => `${where}: ${bound} ${String(before[bound])} became ${String(after[bound])}`,
  );
}

function propertyBreaks(
  documents: Documents,
  direction: Direction,
  where: string,
  before: Members,
  after: Members,
): string[] {
  const [was, is] = [membersOf(before.properties), membersOf(after.properties)];
  const [neededBefore, neededAfter] = [strings(before.required), strings(after.required)];
  return [
    ...Object.entries(was).flatMap(([name, schema]) => {
      if (!(name in is)) return [`${where}.${name}: gone`];
      const vanishes = direction === "answered" && neededBefore.includes(name) && !neededAfter.includes(name);
      return [
        ...(vanishes ? [`${where}.${name}: not always there any more`] : []),
        ...schemaBreaks(documents, direction, `${where}.${name}`, schema, is[name]),
      ];
    }),
    ...(direction === "sent"
      ? neededAfter.filter((name) => !neededBefore.includes(name)).map((name) => `${where}.${name}: needed now`)
      : []),
  ];
}

function entries(value: Json, name: string): [string, Json][] {
  return Object.entries(membersOf(membersOf(value)[name]));
}

/** Follows a reference within the document. */
function resolve(document: Json, value: Json): Members {
  const reference = membersOf(value).$ref;
  if (typeof reference !== "string") return membersOf(value);
  const found = reference
    .slice("#/".length)
    .split("/")
    .reduce((at: Json, segment) => membersOf(at)[segment], document);
  return resolve(document, found);
}

function parametersOf(document: Json, operation: Json): Map<string, Members> {
  const list = membersOf(operation).parameters;
  const found = Array.isArray(list) ? list.map((each) => resolve(document, each)) : [];
  return new Map(found.map((each) => [`${String(each.in)} ${String(each.name)}`, each]));
}

function bodyOf(operation: Json): Json {
  return contentOf(membersOf(membersOf(operation).requestBody));
}

function contentOf(body: Members): Json {
  return membersOf(membersOf(body.content)["application/json"]).schema;
}

function typesOf({ type }: Members): string[] {
  return typeof type === "string" ? [type] : strings(type);
}

function valuesOf({ enum: values, const: only }: Members): Json[] {
  if (only !== undefined) return [only];
  return Array.isArray(values) ? values : [];
}

function strings(value: Json): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function number(value: Json, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/** No length is below zero, and what needs two fields has two. */
function leastOf(bound: (typeof lower)[number], { required }: Members): number {
  if (bound === "minProperties") return strings(required).length;
  return bound === "minimum" ? Number.NEGATIVE_INFINITY : 0;
}
