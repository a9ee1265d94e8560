// Lists by limit and offset, or behind an object (docs/contract.md §1 and §5): newest first, `total` exact within the
// filters, `next_cursor` the next offset or 0.
import { type TSchema, Type } from "typebox";
import { invalid, type Violation } from "#platform/values/failure.ts";
import type { Noun } from "#platform/values/id.ts";
import { idSchema, numberOf } from "./field.ts";

/** docs/contract.md §1. */
export const limitMax = 200;
export const limitDefault = 50;

/** Query parameters of every list by offset. */
export const pageQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: limitMax,
    default: limitDefault,
    description: "How many to answer at most.",
    examples: [50],
  }),
  offset: Type.Integer({
    minimum: 0,
    default: 0,
    format: "int64",
    description: "How many to pass over.",
    examples: [0],
  }),
};

/** Query parameters of a list that can also be read on from one of its objects. */
export function pageQueryOf(noun: Noun) {
  const description =
    "Only those that follow this one: pages by the last id of the page before repeat and miss nothing, whatever is created meanwhile. Without `offset`.";
  return { ...pageQuery, after: Type.Optional(idSchema(noun, description)) };
}

/** The same as the services want it. */
export function windowOf({ limit, offset, after = "" }: { limit: number; offset: number; after?: string }) {
  return { limit, offset: BigInt(offset), afterId: after };
}

/** The answer of a list by offset. */
export function pageSchema<S extends TSchema>(item: S) {
  return Type.Object({
    data: Type.Array(item),
    total: Type.Integer({ format: "int64", description: "All there are within the filters.", examples: [1] }),
    next_cursor: Type.Integer({
      format: "int64",
      description: "The offset of the next page; 0 when there is no more, and with `after`.",
      examples: [0],
    }),
    has_more: Type.Boolean({ description: "Whether further ones follow.", examples: [false] }),
  });
}

interface Page<T> {
  data: T[];
  total: number;
  next_cursor: number;
  has_more: boolean;
}

/** A page by offset as the contract writes it. */
export function pageJson<T>(data: T[], offset: number, total: bigint): Page<T> {
  const next = offset + data.length;
  const count = numberOf(total);
  const hasMore = data.length > 0 && next < count;
  return { data, total: count, next_cursor: hasMore ? next : 0, has_more: hasMore };
}

/** A page by offset, or behind an object. */
export function pageOf<T>(
  data: T[],
  { offset, after }: { readonly offset: number; readonly after?: string },
  { total, hasMore }: { readonly total: bigint; readonly hasMore: boolean },
): Page<T> {
  if (after === undefined) return pageJson(data, offset, total);
  return { data, total: numberOf(total), next_cursor: 0, has_more: hasMore };
}

/** The answer of a short list. */
export function dataSchema<S extends TSchema>(item: S) {
  return Type.Object({ data: Type.Array(item) });
}

/** Refuses a lower bound above its upper one. */
export function inOrder(field: string, low: number | undefined, high: number | undefined, highName: string): void {
  if (low === undefined || high === undefined || low <= high) return;
  const violation: Violation = { field, problem: `must not be greater than ${highName}` };
  throw invalid(violation.field, violation.problem);
}
