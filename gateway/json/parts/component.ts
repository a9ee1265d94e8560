// Names of schemas that the OpenAPI document lists as components. A name is kept beside its schema, not in it, so that
// the validator and the serializer see plain JSON Schema.
import { type TSchema, Type } from "typebox";

const names = new WeakMap<TSchema, string>();

/** The schema, known to the document by a name. */
export function component<S extends TSchema>(name: string, schema: S): S {
  names.set(schema, name);
  return schema;
}

/** The named schema as a field that may be absent; TypeBox makes a copy of it, which would have no name. */
export function optional<S extends TSchema>(schema: S) {
  const copy = Type.Optional(schema);
  const name = names.get(schema);
  if (name !== undefined) names.set(copy, name);
  return copy;
}

/** The schema's name, if it has one. */
export function componentName(schema: object): string | undefined {
  return names.get(schema as TSchema);
}
