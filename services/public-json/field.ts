// Shared parts of the public JSON: optional fields, int64 and timestamps (docs/contract.md §1 and §3), and the schemas
// that the OpenAPI document lists as components.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type TSchema, Type } from "typebox";
import { type Noun, prefixes } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";

/** The field, or no field for an empty or absent value. */
export function optionalField<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  const fields: { [P in K]?: V } = {};
  if (value !== undefined && value !== "") fields[name] = value;
  return fields;
}

/** RFC 3339 in UTC with milliseconds. */
export function timeText(time: Timestamp | undefined): string | undefined {
  return time && timestampDate(time).toISOString();
}

export function timeTextOf(time: Timestamp | undefined): string {
  if (!time) throw new Error("a timestamp is missing");
  return timestampDate(time).toISOString();
}

export function numberOf(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
    throw new RangeError("an integer is too large for JSON");
  }
  return Number(value);
}

export function environmentText(environment: number): "sandbox" | "live" {
  if (environment === Environment.SANDBOX) return "sandbox";
  if (environment === Environment.LIVE) return "live";
  throw new Error("an environment is missing");
}

const idBody = "[0-9a-hjkmnp-tv-z]{26}";

export function idSchema(noun: Noun, description?: string) {
  return Type.String({
    pattern: `^${prefixes[noun]}_${idBody}$`,
    examples: [`${prefixes[noun]}_01jd3v9q6k8m2n4p6r8t0v2x4z`],
    description: description ?? `\`${prefixes[noun]}_…\`.`,
  });
}

export function amountSchema(description: string, example = 1050) {
  return Type.Integer({ format: "int64", description, examples: [example] });
}

export const timeSchema = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2025-11-21T08:30:00.000Z"] });

export const currencySchema = Type.String({ description: "ISO 4217, upper case.", examples: ["EUR"] });

export function enumSchema<const W extends readonly string[]>(words: W, description: string) {
  return Type.Unsafe<W[number]>({ type: "string", enum: words, description, examples: words.slice(0, 1) });
}

/** A text; the listed values may grow. */
export const textSchema = (description: string, example?: string) =>
  Type.String({ description, ...(example !== undefined && { examples: [example] }) });

/** "`a`, `b` or `c`.": the document also lists these values as x-extensible-enum. */
export function listValues(words: readonly string[]): string {
  const quoted = words.map((value) => `\`${value}\``);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}.`;
}

/** Marks a secret, or a URL that contains one, which must not be logged. */
export const secretSchema = (description: string, example?: string) =>
  Type.String({ description, format: "password", ...(example !== undefined && { examples: [example] }) });

export const referenceSchema = textSchema("Your own order number.", "order-1042");

export const environmentSchema = enumSchema(["sandbox", "live"], "The environment of the API key.");

export const archivedSchema = Type.Optional(
  Type.Boolean({
    description: "True if it was read from the archive, which has no personal data; otherwise absent.",
    examples: [true],
  }),
);

export const metadataSchema = Type.Unsafe<Record<string, string>>({
  type: "object",
  description: "Up to 50 names of 1 to 40 characters with text values of up to 500.",
  maxProperties: 50,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: "string", maxLength: 500 },
  examples: [{ order: "1042" }],
});

// Kept outside the schemas, so the validator and the serializer see plain JSON Schema.
const componentNames = new WeakMap<TSchema, string>();

/** Names a schema for the document. */
export function jsonComponent<S extends TSchema>(name: string, schema: S): S {
  componentNames.set(schema, name);
  return schema;
}

/** A named schema as an optional field: TypeBox copies it, so the name is copied, too. */
export function optionalProperty<S extends TSchema>(schema: S) {
  const copy = Type.Optional(schema);
  const name = componentNames.get(schema);
  if (name !== undefined) componentNames.set(copy, name);
  return copy;
}

export function componentName(schema: object): string | undefined {
  return componentNames.get(schema as TSchema);
}
