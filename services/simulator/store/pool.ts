// Connections to the database and its migrations. An outage of the database does not end the process: statements fail
// with an error that `isDatabaseAway` detects.

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Logger } from "pino";

export type Db = pg.Pool;

const connectionsMax = 16; // more are not faster on a small machine
const relaxedConnectionsMax = 2; // one job: a claim and a record
const connectMs = 2_000; // after that the caller gets a 503
const statementMs = 5_000; // the slowest statement takes about 10 ms

/** @param isRelaxed asynchronous commits, for work that a crash may repeat */
export function openPool(databaseUrl: string, log: Logger, { isRelaxed = false } = {}): Db {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: "simulator",
    max: isRelaxed ? relaxedConnectionsMax : connectionsMax,
    ...(isRelaxed && { options: "-c synchronous_commit=off" }),
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    types: { getTypeParser: typeParser },
  });
  pool.on("error", (error) => log.warn({ err: error.message }, "database connection lost"));
  return pool;
}

const int8 = 20;

/** Reads bigint as a number, since amounts are far below 2^53 (routes/intents.ts). */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === int8 ? Number : pg.types.getTypeParser(oid, format as "text");

/** SQLSTATE classes: 08 connection, 57 operator intervention (shutdown, starting up), 53 out of resources. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (/^(08|53|57)...$/.test(code)) return true;
  if (["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOENT"].includes(code)) return true;
  return /Connection terminated|timeout exceeded when trying to connect|not queryable/i.test(error.message);
}

export function brokenConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error && "constraint" in error)) return undefined;
  return typeof error.constraint === "string" ? error.constraint : undefined;
}

const migrationLock = 4_202_420; // an arbitrary number, unused otherwise

export async function migrateSchema(db: Db): Promise<void> {
  const folder = join(import.meta.dirname, "schema");
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const client = await db.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [migrationLock]);
    await client.query("create table if not exists schema_files (name text primary key)");
    const { rows } = await client.query<{ name: string }>("select name from schema_files");
    const applied = new Set(rows.map((row) => row.name));
    for (const name of files.sort().filter((file) => !applied.has(file))) {
      await client.query(readFileSync(join(folder, name), "utf8"));
      await client.query("insert into schema_files values ($1)", [name]);
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // the first error is reported
    throw error;
  } finally {
    client.release();
  }
}

export async function fingerprintKey(db: Db): Promise<Buffer> {
  await db.query("insert into installation (fingerprint_key) values ($1) on conflict do nothing", [randomBytes(32)]);
  const { rows } = await db.query<{ fingerprint_key: Buffer }>("select fingerprint_key from installation");
  const key = rows[0]?.fingerprint_key;
  if (!key) throw new Error("the installation has no fingerprint key");
  return key;
}
