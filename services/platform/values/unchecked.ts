// Reads unchecked values (JSON, thrown values, router params) as unknown; `Object(value)` would return any. Also finds
// values that no table can store.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";

export type Members = Readonly<Record<string, unknown>>;

// Members of an object or a list; empty for anything else.
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}

/** The `code` of a network, database or library error; empty for any other value. */
export function errorCode(error: unknown): string {
  const { code } = membersOf(error);
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}

// A database cannot store a NUL character in text, nor a time outside the years 1 to 9999 (google.protobuf.Timestamp
// has the same bounds). Every incoming message is checked.

const problem = "must not contain a NUL character";
// Excludes the last second of the year 9999: rounding up stays within the bound.
const [secondsMin, secondsEnd] = [-62_135_596_800n, 253_402_300_799n];

export interface UnstorableField {
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
