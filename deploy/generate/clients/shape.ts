// JSON Schema reduced to the kinds of values that the libraries distinguish, with the bounds in words.
import { type Members, membersOf } from "#platform/values/unchecked.ts";

export type Shape =
  | { readonly kind: "text" | "number" | "truth" | "json" }
  /** Enumerated strings; an open list may grow (docs/contract.md §12). */
  | { readonly kind: "words"; readonly words: readonly string[]; readonly isOpen: boolean }
  | { readonly kind: "constant"; readonly value: string }
  | { readonly kind: "either"; readonly options: readonly Shape[] }
  | { readonly kind: "list"; readonly items: Shape }
  | { readonly kind: "map"; readonly values: Shape }
  | { readonly kind: "named"; readonly name: string };

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** `null` clears it. */
  readonly isClearable: boolean;
  /** Must not appear in logs. */
  readonly isSecret: boolean;
  readonly text: string;
}

export interface ObjectType {
  readonly name: string;
  readonly text: string;
  readonly fields: readonly Field[];
  /** An object without any field is rejected. */
  readonly needsField: boolean;
}

/** Collects named objects. */
export interface Registry {
  /** Reads a component when it is first used. */
  component(name: string): void;
  add(type: ObjectType): void;
}

/** @param objectName for an object without a name */
export function shapeOf(schema: Members, objectName: string, registry: Registry): Shape {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    registry.component(name);
    return { kind: "named", name };
  }
  if (typeof schema.const === "string") return { kind: "constant", value: schema.const };
  const types = [schema.type].flat().filter((type) => type !== "null");
  if (types.length > 1) {
    return { kind: "either", options: types.map((type) => shapeOf({ ...schema, type }, objectName, registry)) };
  }
  switch (types[0]) {
    case "string":
      return textShape(schema);
    case "integer":
    case "number":
      return { kind: "number" };
    case "boolean":
      return { kind: "truth" };
    case "array":
      return { kind: "list", items: shapeOf(membersOf(schema.items), objectName, registry) };
    case "object":
      return objectShape(schema, objectName, registry);
    default:
      return { kind: "json" };
  }
}

function textShape(schema: Members): Shape {
  const words = textsOf(schema.enum);
  if (words.length > 0) return { kind: "words", words, isOpen: false };
  const known = textsOf(schema["x-extensible-enum"]);
  return known.length > 0 ? { kind: "words", words: known, isOpen: true } : { kind: "text" };
}

function objectShape(schema: Members, objectName: string, registry: Registry): Shape {
  if (schema.properties !== undefined) {
    registry.add(objectType(objectName, schema, registry));
    return { kind: "named", name: objectName };
  }
  const values = schema.additionalProperties ?? Object.values(membersOf(schema.patternProperties))[0];
  if (typeof values !== "object") return { kind: "map", values: { kind: "json" } };
  return { kind: "map", values: shapeOf(membersOf(values), objectName, registry) };
}

export function objectType(name: string, schema: Members, registry: Registry): ObjectType {
  const fields = fieldsOf(name, schema, registry);
  return { name, text: String(schema.description ?? ""), fields, needsField: schema.minProperties !== undefined };
}

function fieldsOf(owner: string, schema: Members, registry: Registry): Field[] {
  const required = textsOf(schema.required);
  return Object.entries(membersOf(schema.properties)).map(([name, property]) =>
    fieldOf(owner, name, membersOf(property), required.includes(name), registry),
  );
}

export function fieldOf(owner: string, name: string, schema: Members, isRequired: boolean, registry: Registry): Field {
  const suffix = name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    name,
    shape: shapeOf(schema, owner + suffix, registry),
    isRequired,
    isClearable: [schema.type].flat().includes("null"),
    isSecret: schema.format === "password",
    text: fieldText(schema),
  };
}

const grouped = new Intl.NumberFormat("en-US");

/** The description with the bounds that callers may exceed. */
function fieldText(schema: Members): string {
  const { description = "", minimum, maximum, maxLength, maxItems } = schema;
  const isMost = (value: unknown) => typeof value === "number" && value < Number.MAX_SAFE_INTEGER;
  const bounds = [
    typeof minimum === "number" &&
      isMost(maximum) &&
      `${grouped.format(minimum)} to ${grouped.format(Number(maximum))}.`,
    typeof maxLength === "number" && `At most ${grouped.format(maxLength)} characters.`,
    typeof maxItems === "number" && `At most ${grouped.format(maxItems)}.`,
  ];
  const sentence = String(description).replace(/([\w)`])$/, "$1.");
  return [sentence, ...bounds.filter((bound) => bound !== false)].filter((each) => each !== "").join(" ");
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
