// Pages of what grows at the top while it is read: newest first and without a total.
import { type TSchema, Type } from "typebox";
import { invalid } from "#platform/values/failure.ts";
import { isId, type Noun } from "#platform/values/id.ts";
import { idSchema } from "./field.ts";
import { pageQuery } from "./list.ts";
import { timeBoundQuery, timeRange } from "./time-bound.ts";

/** Query parameters of such a list without bounds of time. */
export const afterQuery = (noun: Noun) => ({
  limit: pageQuery.limit,
  after: Type.Optional(idSchema(noun, "Only what is older than this one: the last id of the page before.")),
});

/** Query parameters of such a list. */
export const logQuery = (noun: Noun) => ({ ...afterQuery(noun), ...timeBoundQuery });

export const logPage = <S extends TSchema>(item: S) =>
  Type.Object({
    data: Type.Array(item),
    has_more: Type.Boolean({ description: "Whether older ones follow.", examples: [false] }),
  });

/** The wanted part, as services know it. @throws Failure INVALID_BODY: `after` is no id that there can be */
export function logWindow(
  noun: Noun,
  { limit, after = "", ...bounds }: { limit: number; after?: string; from?: string; to?: string },
) {
  return { ...pageAfter(noun, { limit, after }), ...timeRange(bounds) };
}

/** The same without bounds of time. @throws Failure INVALID_BODY: `after` is no id that there can be */
export function pageAfter(noun: Noun, { limit, after = "" }: { limit: number; after?: string }) {
  if (after !== "" && !isId(noun, after)) throw invalid("after", "must be the id of an object of this list");
  return { pageSize: limit, pageToken: after };
}
