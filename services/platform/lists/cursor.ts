// Pages by cursor, newest first: a page costs the same wherever it starts. Also pages of objects by id.
import type { Sql } from "#platform/database/database.ts";
import { invalidField } from "#platform/values/failure.ts";
import { isId, type Noun } from "#platform/values/id.ts";
import { Condition } from "./condition.ts";

/** The position of a row in a list, newest first. */
export interface Cursor {
  /** PostgreSQL's text, to the microsecond. */
  readonly createdAt: string;
  readonly id: string;
}

/** The cursor of an owner's row. @throws Failure INVALID_BODY when there is no such row */
export async function findCursor(
  sql: Sql,
  table: string,
  { merchantId, environment }: { readonly merchantId: string; readonly environment: number },
  id: string,
  time = "created_at",
): Promise<Cursor> {
  const [row] = await sql.rows<{ at: string }>(
    `select ${time} as at from ${table} where id = $3 and merchant_id = $1 and environment = $2`,
    [merchantId, environment, id],
  );
  if (!row) throw invalidField("after", "must be the id of an object of this list");
  return { createdAt: row.at, id };
}

/** Rows `t` after the cursor. @param time the list's order, before the id */
export function afterCursor({ createdAt, id }: Cursor, time = "t.created_at"): Condition {
  return new Condition(afterCursorText(time, "?::timestamptz", "?"), createdAt, createdAt, id);
}

/**
 * The same as SQL. A row comparison, `(time, id) < (…)`, would be slower: together with another bound on the time, the
 * index starts at that bound (PostgreSQL 18.4) and passes all rows before the cursor.
 */
export function afterCursorText(time: string, cursorTime: string, cursorId: string): string {
  return `${time} <= ${cursorTime} and (${time} < ${cursorTime} or t.id < ${cursorId})`;
}

// Pages of objects whose ids sort by creation: the last id of a page is the next page's token.

const limitDefault = 50;

/**
 * @param query.limit 0 means fifty
 * @param read returns at most `limit` objects after the id (empty for the first page)
 * @throws Failure INVALID_BODY for an invalid token
 */
export async function keysetPage<T extends { readonly id: string }>(
  noun: Noun,
  query: { readonly pageToken: string; readonly limit: number },
  read: (behindId: string, limit: number) => Promise<readonly T[]>,
): Promise<{ page: T[]; nextPageToken: string }> {
  if (query.pageToken !== "" && !isId(noun, query.pageToken)) throw invalidField("page_token", "is not one of ours");
  const limit = query.limit || limitDefault;
  const found = await read(query.pageToken, limit + 1);
  const page = found.slice(0, limit);
  return { page, nextPageToken: found.length > limit ? (page.at(-1)?.id ?? "") : "" };
}
