// The daily partitions of api_requests, created and dropped by functions of the tables' owner
// (schema/0005-request-day-functions.sql). A Request-Id starts with its time, so a lookup by id reads one partition.
import type { Sql } from "#platform/database/database.ts";

export const dayMs = 86_400_000;
// An arbitrary key that no other lock of this database uses.
const lock = 7_655_230;

/** Lets one transaction at a time create and drop partitions. */
export async function lockRequestDays(tx: Sql): Promise<void> {
  await tx.rows("select pg_advisory_xact_lock($1)", [lock]);
}

/** The starts of the days that have a partition, milliseconds since 1970. */
export async function listRequestDays(sql: Sql): Promise<number[]> {
  const rows = await sql.rows<{ name: string }>(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'api_requests'::regclass",
  );
  return rows.map(({ name }) => Date.parse(name.slice(-10).replaceAll("_", "-")));
}

/** Takes no lock that blocks readers or writers. */
export async function createRequestDay(tx: Sql, day: number): Promise<void> {
  await tx.rows("select make_request_day($1)", [dateOf(day)]);
}

/** @throws if the table is in use for so long that other statements would have to wait; retry later */
export async function dropRequestDay(sql: Sql, day: number): Promise<void> {
  await sql.rows("select drop_request_day($1)", [dateOf(day)]);
}

function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
