// Values that a request's schema in the OpenAPI document allows, drawn from the schema alone, and changes that it does
// not allow. Callers must validate them: a drawn value may miss a bound.
import fc from "fast-check";
import { membersOf } from "#platform/values/unchecked.ts";
import { displayFormats } from "../../gateway/http/display-text.ts";

type Schema = Readonly<Record<string, unknown>>;
type Resolve = (schema: Schema) => Schema;

const entriesMax = 3;
const textMax = 60;

/** A value by the schema. @param resolve follows a reference */
export function drawnFrom(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const { type, enum: words, ...rest } = resolve(schema);
  if (Array.isArray(words)) return fc.constantFrom(...words);
  const types = [type].flat();
  if (types.length > 1) return fc.oneof(...types.map((one) => drawnFrom({ ...rest, type: one }, resolve)));
  switch (types[0]) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.integer({ min: Number(rest.minimum ?? -1_000), max: Number(rest.maximum ?? 100_000) });
    case "array":
      return fc.array(drawnFrom(membersOf(rest.items), resolve), {
        minLength: Number(rest.minItems ?? 0),
        maxLength: Math.min(Number(rest.maxItems ?? entriesMax), Math.max(entriesMax, Number(rest.minItems ?? 0))),
      });
    case "object":
      return objectOf(rest, resolve);
    default:
      return textOf(rest);
  }
}

function objectOf(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const fields = Object.entries(membersOf(schema.properties));
  if (fields.length === 0) {
    // The one forbidden name, as in the docs' table of inputs.
    const names = fc
      .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 })
      .filter((name) => name !== "__proto__");
    return fc.dictionary(names, drawnFrom(membersOf(schema.additionalProperties), resolve), { maxKeys: entriesMax });
  }
  const drawn = Object.fromEntries(fields.map(([name, inner]) => [name, drawnFrom(membersOf(inner), resolve)]));
  return fc.record(drawn, { requiredKeys: [schema.required ?? []].flat().map(String) });
}

function textOf({ pattern, format, examples, minLength = 0, maxLength = textMax }: Schema): fc.Arbitrary<string> {
  const [least, most] = [Number(minLength), Math.min(Number(maxLength), textMax)];
  const known = [examples ?? []].flat().map(String);
  const drawn = textIn(pattern, format, least, most);
  return known.length > 0 ? fc.oneof(fc.constantFrom(...known), drawn) : drawn;
}

function textIn(pattern: unknown, format: unknown, minLength: number, maxLength: number): fc.Arbitrary<string> {
  if (typeof pattern === "string" && !(String(format) in displayFormats))
    return fc.stringMatching(new RegExp(pattern, "u"));
  if (format === "email") return fc.emailAddress();
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "uri") return fc.webUrl();
  return fc.string({ unit: "grapheme", minLength, maxLength });
}

/** A body with one change, and the name of the field that it changed; the schema may allow it all the same. */
export function changeOneField(body: object, schema: Schema): fc.Arbitrary<{ field: string; body: object }> {
  const names = Object.keys(membersOf(schema.properties));
  const wrong = fc.oneof(
    fc.constantFrom<unknown>(null, true, 1.5, -1, 2 ** 53, "", " ", [], {}, "x".repeat(30_000), "\u202e", [[]]),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const swapped = fc.tuple(fc.constantFrom(...names), wrong).map(([field, value]) => ({ field, [field]: value }));
  return fc.oneof(
    { weight: 4, arbitrary: swapped.map(({ field, ...change }) => ({ field, body: { ...body, ...change } })) },
    fc.constantFrom(...names).map((field) => ({ field, body: without(body, field) })),
    fc.constant({ field: "colour", body: { ...body, colour: "green" } }),
  );
}

function without(body: object, field: string): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}
