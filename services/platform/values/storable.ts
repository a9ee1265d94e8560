// Finds fields that a database cannot store: a NUL character in text, or a time outside the years 1 to 9999, the bounds
// of google.protobuf.Timestamp. Every incoming message is checked.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { membersOf } from "./unchecked.ts";

const problem = "must not contain a NUL character";
// Excludes the last second of the year 9999: rounding up stays within the bound.
const [secondsMin, secondsEnd] = [-62_135_596_800n, 253_402_300_799n];

interface UnstorableField {
  readonly field: string;
  readonly problem: string;
}

/** One violation per field that cannot be stored. @param at name of the field that contains the message, or empty */
export function findUnstorableFields(schema: DescMessage, message: object, at = ""): UnstorableField[] {
  return schema.fields.flatMap((field) => {
    const value = valueIn(field, message);
    const name = at === "" ? field.name : `${at}.${field.name}`;
    return value === undefined ? [] : fieldViolations(field, value, name);
  });
}

/** Undefined when the field is not set. */
function valueIn(field: DescField, message: object): unknown {
  if (!field.oneof) return Reflect.get(message, field.localName);
  const chosen: unknown = Reflect.get(message, field.oneof.localName);
  const { case: name, value } = membersOf(chosen);
  return name === field.localName ? value : undefined;
}

function fieldViolations(field: DescField, value: unknown, name: string): UnstorableField[] {
  if (field.fieldKind === "map") {
    const keys = Object.keys(membersOf(value)).some(hasNul) ? [{ field: name, problem }] : [];
    return [...keys, ...violationsIn(Object.values(membersOf(value)), field.message, name)];
  }
  return violationsIn(Array.isArray(value) ? value : [value], field.message, name);
}

function violationsIn(values: readonly unknown[], schema: DescMessage | undefined, name: string): UnstorableField[] {
  if (values.some(hasNul)) return [{ field: name, problem }];
  if (!schema) return [];
  if (schema.typeName === TimestampSchema.typeName) {
    return values.some(isNoTime) ? [{ field: name, problem: "must be a time of the years 1 to 9999" }] : [];
  }
  return values.flatMap((value) =>
    typeof value === "object" && value ? findUnstorableFields(schema, value, name) : [],
  );
}

function isNoTime(value: unknown): boolean {
  const { seconds } = membersOf(value);
  return typeof seconds === "bigint" && (seconds < secondsMin || seconds >= secondsEnd);
}

function hasNul(value: unknown): boolean {
  return typeof value === "string" && value.includes("\0");
}
