// Pages of a list that grows while it is read: newest first, without a total.
import { type TSchema, Type } from "typebox";
import { invalidField } from "#platform/values/failure.ts";
import { isId, type Noun } from "#platform/values/id.ts";
import { idSchema } from "../../../services/public-json/field.ts";
import { pageQuery } from "./list.ts";
import { timeBoundQuery, timeRange } from "./time-bound.ts";

export const afterQuery = (noun: Noun) => ({
  limit: pageQuery.limit,
  after: Type.Optional(idSchema(noun, "Return objects older than this one: the last id of the previous page.")),
});

export const logQuery = (noun: Noun) => ({ ...afterQuery(noun), ...timeBoundQuery });

export const logPage = <S extends TSchema>(item: S) =>
  Type.Object({
    data: Type.Array(item),
    has_more: Type.Boolean({ description: "Whether older objects follow.", examples: [false] }),
  });

/** @throws Failure INVALID_BODY if `after` is malformed. */
export function logWindow(
  noun: Noun,
  { limit, after = "", ...bounds }: { limit: number; after?: string; from?: string; to?: string },
) {
  return { ...pageAfter(noun, { limit, after }), ...timeRange(bounds) };
}

/** @throws Failure INVALID_BODY if `after` is malformed. */
export function pageAfter(noun: Noun, { limit, after = "" }: { limit: number; after?: string }) {
  if (after !== "" && !isId(noun, after)) throw invalidField("after", "must be the id of an object of this list");
  return { pageSize: limit, pageToken: after };
}
