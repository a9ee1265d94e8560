// Where a row stands in a list, newest first, and what is behind it: a page by its place costs the same wherever it is.
import type { Sql } from "#platform/database/database.ts";
import { invalid } from "#platform/values/failure.ts";
import { Condition } from "./condition.ts";

/** Where a row stands in a list, newest first. */
export interface Cursor {
  /** As PostgreSQL writes it, to the microsecond. */
  readonly createdAt: string;
  readonly id: string;
}

/**
 * The place of an owner's row.
 * @throws Failure INVALID_BODY: there is no such row
 */
export async function findCursor(
  sql: Sql,
  table: "payments" | "refunds" | "sessions",
  { merchantId, environment }: { readonly merchantId: string; readonly environment: number },
  id: string,
): Promise<Cursor> {
  const [row] = await sql.rows<{ created_at: string }>(
    `select created_at from ${table} where id = $3 and merchant_id = $1 and environment = $2`,
    [merchantId, environment, id],
  );
  if (!row) throw invalid("after", "must be the id of an object of this list");
  return { createdAt: row.created_at, id };
}

/** Of a row behind the place. @param time by which the list is ordered, and then by `rowId` */
export function afterCursor({ createdAt, id }: Cursor, time = "t.created_at", rowId = "t.id"): Condition {
  return new Condition(afterCursorText(time, "?::timestamptz", rowId, "?"), createdAt, createdAt, id);
}

/**
 * The same, with the place as SQL. Not by comparing rows, `(time, id) < (…)`: beside another bound on the time an index
 * begins at that one (PostgreSQL 18.4), and passes all rows before the place.
 */
export function afterCursorText(time: string, cursorTime: string, id: string, cursorId: string): string {
  return `${time} <= ${cursorTime} and (${time} < ${cursorTime} or ${id} < ${cursorId})`;
}
