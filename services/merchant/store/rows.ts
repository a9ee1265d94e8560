// Shared by the stores of this service: the type of raw rows, and deletion in batches.
import type { Sql } from "#platform/database/database.ts";

/** A row as the driver returns it: timestamps are text. */
export type Stored<T> = {
  readonly [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K];
};

// Keeps a statement far below the statement timeout.
const batchMax = 1_000;

/**
 * Deletes up to 1,000 rows that match, and skips rows that another transaction has locked.
 * @param condition may end with an order that lets an index find the rows
 * @returns true if there may be more
 */
export async function deleteBatch(sql: Sql, table: string, condition: string): Promise<boolean> {
  // MATERIALIZED: as a plain subquery the limit with SKIP LOCKED may be evaluated again and exceeded.
  const rows = await sql.rows(
    `with expired as materialized (
       select ctid as row_id from ${table} where ${condition} limit ${batchMax} for update skip locked)
     delete from ${table} t using expired where t.ctid = expired.row_id returning 1`,
  );
  return rows.length === batchMax;
}
