// Lists by limit and offset (docs/contract.md §1 and §5): newest first, `total` exact within the filters, `next_cursor`
// the next offset or 0.
import { type TSchema, Type } from "typebox";
import { invalid, type Violation } from "#platform/values/failure.ts";
import { numberOf } from "./field.ts";

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

/** The answer of a list by offset. */
export function pageSchema<S extends TSchema>(item: S) {
  return Type.Object({
    data: Type.Array(item),
    total: Type.Integer({ format: "int64", description: "All there are within the filters.", examples: [1] }),
    next_cursor: Type.Integer({
      format: "int64",
      description: "The offset of the next page; 0 when there is no more.",
      examples: [0],
    }),
  });
}

/** A page as the contract writes it. */
export function pageJson<T>(
  data: T[],
  offset: number,
  total: bigint,
): { data: T[]; total: number; next_cursor: number } {
  const next = offset + data.length;
  const count = numberOf(total);
  return { data, total: count, next_cursor: data.length > 0 && next < count ? next : 0 };
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
