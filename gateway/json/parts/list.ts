// Lists by limit and offset, or after an object (docs/contract.md §1 and §5): newest first, with an exact `total` and
// the next offset as `next_cursor`.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type TSchema, Type } from "typebox";
import { asFailure, invalidField, type Violation } from "#platform/values/failure.ts";
import type { Noun } from "#platform/values/id.ts";
import { idSchema, numberOf, optionalField, timeSchema, timeText } from "../../../services/public-json/field.ts";

const limitMax = 200;
const limitDefault = 50;

export const pageQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: limitMax,
    default: limitDefault,
    description: "Maximum number of objects.",
    examples: [50],
  }),
  offset: Type.Integer({
    minimum: 0,
    default: 0,
    format: "int64",
    description: "Number of objects to skip.",
    examples: [0],
  }),
};

export function pageQueryOf(noun: Noun) {
  const description =
    "Return objects after this one. Pass the last id of a page to get the next page without gaps or repeats, even while objects are created. Not with `offset`.";
  return { ...pageQuery, after: Type.Optional(idSchema(noun, description)) };
}

export function windowOf({ limit, offset, after = "" }: { limit: number; offset: number; after?: string }) {
  return { limit, offset: BigInt(offset), afterId: after };
}

export function pageSchema<S extends TSchema>(item: S) {
  return Type.Object({
    data: Type.Array(item),
    total: Type.Integer({ format: "int64", description: "Number of objects that match the filters.", examples: [1] }),
    next_cursor: Type.Integer({
      format: "int64",
      description: "Offset of the next page; 0 on the last page and with `after`.",
      examples: [0],
    }),
    has_more: Type.Boolean({ description: "Whether more objects follow.", examples: [false] }),
  });
}

/** A list whose oldest objects can be in the archive. */
export function archivedPageSchema<S extends TSchema>(item: S) {
  return Type.Object({
    ...pageSchema(item).properties,
    archived_before: Type.Optional(
      timeSchema("Older objects may be archived: the list lacks them, and a read by id shows them."),
    ),
  });
}

interface Page<T> {
  data: T[];
  total: number;
  next_cursor: number;
  has_more: boolean;
  archived_before?: string;
}

export function pageJson<T>(data: T[], offset: number, total: bigint): Page<T> {
  const next = offset + data.length;
  const count = numberOf(total);
  const hasMore = data.length > 0 && next < count;
  return { data, total: count, next_cursor: hasMore ? next : 0, has_more: hasMore };
}

export function pageOf<T>(
  data: T[],
  { offset, after }: { readonly offset: number; readonly after?: string },
  answer: { readonly total: bigint; readonly hasMore: boolean; readonly archivedBefore?: Timestamp | undefined },
): Page<T> {
  const page =
    after === undefined
      ? pageJson(data, offset, answer.total)
      : { data, total: numberOf(answer.total), next_cursor: 0, has_more: answer.hasMore };
  return { ...page, ...optionalField("archived_before", timeText(answer.archivedBefore)) };
}

export function dataSchema<S extends TSchema>(item: S) {
  return Type.Object({ data: Type.Array(item) });
}

export function assertOrder(field: string, low: number | undefined, high: number | undefined, highName: string): void {
  if (low === undefined || high === undefined || low <= high) return;
  const violation: Violation = { field, problem: `must not be greater than ${highName}` };
  throw invalidField(violation.field, violation.problem);
}

/** An unknown value of this filter matches nothing; the services refuse it. */
export async function emptyForUnknown<T>(field: string, answer: Promise<T>, empty: NoInfer<T>): Promise<T> {
  return await answer.catch((error: unknown) => {
    const { reason, violations } = asFailure(error);
    const isUnknown = violations.length > 0 && violations.every((violation) => violation.field === field);
    if (reason === "INVALID_BODY" && isUnknown) return empty;
    throw error;
  });
}
