// The daily partitions of deliveries and events (by id, which begins with the time) and attempts (by start): made days
// ahead, dropped when their keeping time is over, both by functions of the tables' owner (schema/0007-events.sql).
// There is no default partition: a row without a day is a defect to be seen.
import type { Sql } from "#platform/database/database.ts";

export const dayMs = 86_400_000;
// A ULID begins with ten characters of Crockford base32 that hold the milliseconds.
const idTimeCharacters = 10;
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** The tables that have a partition for each day. */
export const partitionedTables = ["deliveries", "attempts", "events"] as const;
type PartitionedTable = (typeof partitionedTables)[number];

/** Not above any delivery id of this time or later, above every earlier one. */
export function firstDeliveryIdOf(ms: number): string {
  let text = "";
  for (let i = 0, rest = ms; i < idTimeCharacters; i++, rest = Math.floor(rest / 32))
    text = idAlphabet[rest % 32] + text;
  return `whd_${text}`;
}

/** Days whose partitions exist, as milliseconds of their beginnings, ascending. */
export async function listPartitions(sql: Sql, table: PartitionedTable): Promise<number[]> {
  const rows = await sql.rows<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by c.relname`,
    [table],
  );
  return rows.map((row) => dayOf(row.name)).filter((day) => !Number.isNaN(day));
}

// Any number that nobody else locks in this database.
const partitionLock = 7_655_210;

/** Lets one process at a time make partitions, until its transaction ends. */
export async function lockPartitions(tx: Sql): Promise<void> {
  await tx.rows("select pg_advisory_xact_lock($1)", [partitionLock]);
}

/** Makes the partition of a day. Takes no lock that stops readers or writers. */
export async function createPartition(tx: Sql, table: PartitionedTable, dayStartMs: number): Promise<void> {
  await tx.rows("select make_partition($1, $2)", [table, dateOf(dayStartMs)]);
}

/**
 * Drops the partition of a day. @throws when the table is in use for so long that others would have to wait; try again
 * later
 */
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
