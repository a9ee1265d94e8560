// The daily tables of api_requests: made ahead, dropped when their time is over. A Request-Id begins with its time, so that a day
// is a range of ids and a look-up by id visits one table.
import type { Sql } from "#platform/database.ts";

export const dayMs = 86_400_000;
// A ULID begins with ten characters of Crockford base32 that hold the milliseconds.
const timeCharacters = 10;
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
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

export async function createRequestDay(tx: Sql, day: number): Promise<void> {
  const bounds = `from ('${firstIdOf(day)}') to ('${firstIdOf(day + dayMs)}')`;
  await tx.rows(`create table ${tableOf(day)} partition of api_requests for values ${bounds}`);
}

export async function dropRequestDay(tx: Sql, day: number): Promise<void> {
  await tx.rows(`drop table ${tableOf(day)}`);
}

function tableOf(day: number): string {
  return `api_requests_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "_")}`;
}

/** Not above any Request-Id of this time or later, above every earlier one. */
function firstIdOf(ms: number): string {
  let text = "";
  for (let i = 0, rest = ms; i < timeCharacters; i++, rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  return `req_${text}`;
}
