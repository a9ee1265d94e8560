// Pages of objects whose ids sort by creation: the last id of a page is the token of the next one.
import { invalid } from "#platform/values/failure.ts";
import { isId, type Noun } from "#platform/values/id.ts";

const limitDefault = 50;

/**
 * @param query.limit 0: fifty
 * @param read answers objects from behind the id on (empty: from the first one), so many at most
 * @throws Failure INVALID_BODY for a token that is none
 */
export async function keysetPage<T extends { readonly id: string }>(
  noun: Noun,
  query: { readonly pageToken: string; readonly limit: number },
  read: (behindId: string, limit: number) => Promise<readonly T[]>,
): Promise<{ page: T[]; nextPageToken: string }> {
  if (query.pageToken !== "" && !isId(noun, query.pageToken)) throw invalid("page_token", "is not one of ours");
  const limit = query.limit || limitDefault;
  const found = await read(query.pageToken, limit + 1);
  const page = found.slice(0, limit);
  return { page, nextPageToken: found.length > limit ? (page.at(-1)?.id ?? "") : "" };
}
