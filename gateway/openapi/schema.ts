// Converts schemas for the OpenAPI document: named ones become components and references.
import type { TSchema } from "typebox";
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { componentName } from "../../services/public-json/field.ts";
import { documentedPattern } from "../http/own-formats.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export function publishSchema(schema: object, components: JsonObject): JsonObject {
  const name = componentName(schema);
  if (name === undefined) return plain(schema, components);
  if (!(name in components)) components[name] = plain(schema, components);
  return { $ref: `#/components/schemas/${name}` };
}

function plain(schema: object, components: JsonObject): JsonObject {
  const values = extensibleValues(schema);
  const { format, pattern } = membersOf(schema);
  const shown = documentedPattern(format, pattern);
  return {
    ...Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [
        key,
        key === "required" ? withoutDefaults(schema, value) : inner(value, components),
      ]),
    ),
    ...(shown !== undefined && { pattern: shown }),
    ...(values.length > 0 && { "x-extensible-enum": values }),
  };
}

// "`a`, `b` or `c`", alone or after a colon, up to a full stop, comma or semicolon.
const valueListPattern = /^(?:[^`]*: )?((?:`[a-z_.]+`, )*`[a-z_.]+`) or `([a-z_.]+)`(?=[.;,]|$)/;
// A value with or without its meaning: parts of "`a`: this; `b`: that; `c`."
const documentedValuePattern = /^`([a-z_.]+)`(?:: [^`]*)?\.?$/;

/** Values that a text's description lists; others may be added (docs/contract.md §12). */
function extensibleValues(schema: object): string[] {
  const { type, description, enum: closed } = membersOf(schema);
  if (type !== "string" || closed !== undefined || typeof description !== "string") return [];
  const [, first = "", last] = valueListPattern.exec(description) ?? [];
  if (last !== undefined) return [...first.replaceAll("`", "").split(", "), last];
  const parts = description.split("; ").map((item) => documentedValuePattern.exec(item)?.[1]);
  return parts.length > 1 && parts.every((value) => value !== undefined) ? parts : [];
}

function inner(value: unknown, components: JsonObject): Json {
  if (Array.isArray(value)) return value.map((entry) => inner(entry, components));
  if (value !== null && typeof value === "object") return publishSchema(value, components);
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value;
  return null;
}

/** A field with a default is required for handlers but not for callers. */
function withoutDefaults(schema: object, required: unknown): Json {
  const properties = propertiesOf(schema);
  return [required]
    .flat()
    .filter((name) => typeof name === "string" && !("default" in (properties[name] ?? {})))
    .map(String);
}

/** Names of the fields that the caller must send. */
export function requiredNames(schema: TSchema): string[] {
  const required = "required" in schema ? [schema.required].flat().map(String) : [];
  const properties = propertiesOf(schema);
  return required.filter((name) => !("default" in (properties[name] ?? {})));
}

export function propertiesOf(schema: object): Readonly<Record<string, Members>> {
  const properties = Object.entries(membersOf(membersOf(schema).properties));
  return Object.fromEntries(properties.map(([name, property]) => [name, membersOf(property)]));
}
