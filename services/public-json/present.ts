// Converts a service's message to the public JSON of a schema: `created_at` comes from `createdAt`. Timestamps become
// RFC 3339, int64 numbers, environments names; an empty optional field is omitted (docs/contract.md §1 and §3).
import { isMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Static, TObject } from "typebox";
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { componentName, environmentText, numberOf, timeTextOf } from "./field.ts";

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type Extra<S extends TObject> = { readonly [K in keyof Static<S>]?: Static<S>[K] | undefined };
/** Fields of the schema that neither the message nor the extra values have. */
type Missing<S extends TObject, M, E> = Exclude<Camel<Exclude<keyof Static<S>, keyof E>>, keyof M>;

/** @param extra values of fields that the message lacks or has in another form; an empty optional one is omitted */
export function presentMessage<S extends TObject, M extends object, const E extends Extra<S> = Record<never, never>>(
  schema: S,
  message:
    | (M & ([Missing<S, M, E>] extends [never] ? unknown : Record<Missing<S, M, E> & string, unknown>))
    | undefined,
  extra?: E,
): Static<S> {
  if (!message) throw new Error(`${componentName(schema)} is missing in the response`);
  // The properties of Static<S> are those of the schema, converted one by one.
  return fieldsOf(schema, membersOf(message), membersOf(extra)) as Static<S>;
}

const fieldsBySchema = new WeakMap<object, ReturnType<typeof readFields>>();

function readFields({ properties, required }: Members) {
  const all = Object.entries(membersOf(properties));
  const always = new Set([required].flat());
  return all.map(([name, property]) => [name, camel(name), membersOf(property), always.has(name)] as const);
}

function fieldsOf(schema: object, message: Members, extra: Members): Record<string, unknown> {
  const known = fieldsBySchema.get(schema);
  const fields = known ?? readFields(membersOf(schema));
  if (!known) fieldsBySchema.set(schema, fields);
  const json: Record<string, unknown> = {};
  for (const [name, source, property, isRequired] of fields) {
    const value = name in extra ? extra[name] : jsonOf(property, message[source]);
    if (isRequired) {
      if (value === undefined) throw new Error(`${name} is missing in the response`);
    } else if (isEmpty(value)) continue;
    json[name] = value;
  }
  return json;
}

function jsonOf(property: Members, value: unknown): unknown {
  if (typeof value === "bigint") return numberOf(value);
  if (Array.isArray(value)) return value.map((each) => jsonOf(membersOf(property.items), each));
  if (isMessage(value, TimestampSchema)) return timeTextOf(value);
  if (typeof value === "object" && value !== null) {
    return property.properties === undefined ? value : fieldsOf(property, membersOf(value), {});
  }
  if (!Array.isArray(property.enum)) return value;
  const text = typeof value === "number" ? environmentText(value) : value;
  if (!property.enum.includes(text)) throw new Error(`unexpected value of an enum: ${text}`);
  return text;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
