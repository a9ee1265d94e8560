// What came from outside and nobody has checked yet (JSON, a thrown value, a router's params): its members, as unknown.
// `Object(value)` would answer the same with the type any, which no compiler looks at any more.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Violation } from "./failure.ts";

export type Members = Readonly<Record<string, unknown>>;

// The members of an object or a list; anything else has none.
export function membersOf(value: unknown): Members {
  return typeof value === "object" ? Object(value) : {};
}

// What a database cannot keep: a text with a NUL character (PostgreSQL keeps every other one) and a time outside the
// years 1 to 9999 (google.protobuf.Timestamp allows no other). Proved for the messages of all methods in one place.

const problem = "must not contain a NUL character";
// Without the last second of the year 9999, so that rounding up stays within it.
const [secondsMin, secondsEnd] = [-62_135_596_800n, 253_402_300_799n];

/**
 * A violation for each field of the message with such a value. @param at name of the field that holds the message;
 * empty: none does
 */
export function unkeptViolations(schema: DescMessage, message: object, at = ""): Violation[] {
  return schema.fields.flatMap((field) => {
    const value = valueIn(field, message);
    const name = at === "" ? field.name : `${at}.${field.name}`;
    return value === undefined ? [] : fieldViolations(field, value, name);
  });
}

/** As the generated code keeps it; undefined: it is not set. */
function valueIn(field: DescField, message: object): unknown {
  if (!field.oneof) return Reflect.get(message, field.localName);
  const chosen: unknown = Reflect.get(message, field.oneof.localName);
  const { case: name, value } = membersOf(chosen);
  return name === field.localName ? value : undefined;
}

function fieldViolations(field: DescField, value: unknown, name: string): Violation[] {
  if (field.fieldKind === "map") {
    const keys = Object.keys(membersOf(value)).some(hasNul) ? [{ field: name, problem }] : [];
    return [...keys, ...violationsIn(Object.values(membersOf(value)), field.message, name)];
  }
  return violationsIn(Array.isArray(value) ? value : [value], field.message, name);
}

function violationsIn(values: readonly unknown[], schema: DescMessage | undefined, name: string): Violation[] {
  if (values.some(hasNul)) return [{ field: name, problem }];
  if (!schema) return [];
  if (schema.typeName === TimestampSchema.typeName) {
    return values.some(isNoTime) ? [{ field: name, problem: "must be a time of the years 1 to 9999" }] : [];
  }
  return values.flatMap((value) => (typeof value === "object" && value ? unkeptViolations(schema, value, name) : []));
}

function isNoTime(value: unknown): boolean {
  const { seconds } = membersOf(value);
  return typeof seconds === "bigint" && (seconds < secondsMin || seconds >= secondsEnd);
}

function hasNul(value: unknown): boolean {
  return typeof value === "string" && value.includes("\0");
}
