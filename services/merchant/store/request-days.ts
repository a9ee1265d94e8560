// The daily tables of api_requests: made ahead, dropped when their time is over, both by functions of the tables' owner
// (schema/0005-request-day-functions.sql). A Request-Id begins with its time, so that a day is a range of ids and a
// look-up by id visits one table.
import type { Sql } from "#platform/database/database.ts";

export const dayMs = 86_400_000;
// Any number that nobody else locks in this database.
const lock = 7_655_230;

/** Lets one process at a time make and drop tables, until its transaction ends. */
export async function lockRequestDays(tx: Sql): Promise<void> {
  await tx.rows("select pg_advisory_xact_lock($1)", [lock]);
}

/** Beginnings of the days that have a table, milliseconds since 1970. */
export async function listRequestDays(sql: Sql): Promise<number[]> {
  const rows = await sql.rows<{ name: string }>(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'api_requests'::regclass",
  );
  return rows.map(({ name }) => Date.parse(name.slice(-10).replaceAll("_", "-")));
}

/** Takes no lock that stops readers or writers. */
export async function createRequestDay(tx: Sql, day: number): Promise<void> {
  await tx.rows("select make_request_day($1)", [dateOf(day)]);
}

/** @throws when the table is in use for so long that others would have to wait; try again later */
export async function dropRequestDay(sql: Sql, day: number): Promise<void> {
  await sql.rows("select drop_request_day($1)", [dateOf(day)]);
}

function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
