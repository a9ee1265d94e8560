// The daily partitions of deliveries (by id, which begins with the time) and attempts (by start): made days ahead, dropped when
// their keeping time is over. There is no default partition: a row without a day is a defect to be seen.
import type { Sql } from "#platform/database.ts";

export const dayMs = 86_400_000;
// A ULID begins with ten characters of Crockford base32 that hold the milliseconds.
const idTimeCharacters = 10;
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

interface PartitionedTable {
  readonly name: "deliveries" | "attempts";
  /** Bound of a day's partition as an SQL literal. */
  readonly bound: (dayStartMs: number) => string;
}

export const partitionedTables: readonly PartitionedTable[] = [
  { name: "deliveries", bound: (ms) => `'${firstDeliveryIdOf(ms)}'` },
  { name: "attempts", bound: (ms) => `'${new Date(ms).toISOString()}'` },
];

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
    [table.name],
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
  const name = partitionName(table, dayStartMs);
  await tx.rows(`create table ${name} (like ${table.name} including all)`);
  await tx.rows(
    `alter table ${table.name} attach partition ${name}
     for values from (${table.bound(dayStartMs)}) to (${table.bound(dayStartMs + dayMs)})`,
  );
}

/** Drops the partition of a day. */
export async function dropPartition(sql: Sql, table: PartitionedTable, dayStartMs: number): Promise<void> {
  const name = partitionName(table, dayStartMs);
  const pending = await sql.rows(`select from pg_inherits where inhrelid = to_regclass($1) and inhdetachpending`, [
    name,
  ]);
  // An earlier run may have been cut off between the two steps of a concurrent detach.
  await sql.rows(
    `alter table ${table.name} detach partition ${name} ${pending.length > 0 ? "finalize" : "concurrently"}`,
  );
  await sql.rows(`drop table ${name}`);
}

function partitionName(table: PartitionedTable, dayStartMs: number): string {
  return `${table.name}_${new Date(dayStartMs).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function dayOf(name: string): number {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T00:00:00Z`);
}
