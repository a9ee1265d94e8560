// The daily partitions of deliveries and events (by id, which starts with the time) and attempts (by start time).
// The table owner's functions create and drop them (schema/0007-events.sql). There is no default partition: a row
// without one must fail.
import type { Sql } from "#platform/database/database.ts";

export const dayMs = 86_400_000;
// A ULID begins with ten characters of Crockford base32 that hold the milliseconds.
const idTimeCharacters = 10;
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export const partitionedTables = ["deliveries", "attempts", "events"] as const;
type PartitionedTable = (typeof partitionedTables)[number];

/** The smallest delivery id of this time. */
export function firstDeliveryIdOf(ms: number): string {
  let text = "";
  for (let i = 0, rest = ms; i < idTimeCharacters; i++, rest = Math.floor(rest / 32))
    text = idAlphabet[rest % 32] + text;
  return `whd_${text}`;
}

/** The starts of the days whose partitions exist, in milliseconds, ascending. */
export async function listPartitions(sql: Sql, table: PartitionedTable): Promise<number[]> {
  const rows = await sql.rows<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by c.relname`,
    [table],
  );
  return rows.map((row) => dayOf(row.name)).filter((day) => !Number.isNaN(day));
}

// An arbitrary key that no other lock of this database uses.
const partitionLock = 7_655_210;

/** Lets one transaction at a time create partitions. */
export async function lockPartitions(tx: Sql): Promise<void> {
  await tx.rows("select pg_advisory_xact_lock($1)", [partitionLock]);
}

/** Takes no lock that blocks readers or writers. */
export async function createPartition(tx: Sql, table: PartitionedTable, dayStartMs: number): Promise<void> {
  await tx.rows("select make_partition($1, $2)", [table, dateOf(dayStartMs)]);
}

/** @throws if the table is in use for so long that other statements would have to wait; retry later */
export async function dropPartition(sql: Sql, table: PartitionedTable, dayStartMs: number): Promise<void> {
  await sql.rows("select drop_partition($1, $2)", [table, dateOf(dayStartMs)]);
}

function dateOf(dayStartMs: number): string {
  return new Date(dayStartMs).toISOString().slice(0, 10);
}

function dayOf(name: string): number {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T00:00:00Z`);
}
