// Connections to the processor's database. A database that goes away and comes back ends no process: what was asked
// meanwhile fails with an error that `isDatabaseAway` knows.
import pg from "pg";
import type { Logger } from "pino";

export type Db = pg.Pool;

const connectionsMax = 16; // PostgreSQL answers no faster with more on a small machine
const relaxedConnectionsMax = 2; // one job: a claim and a record
const connectMs = 2_000; // then the caller gets a 503
const statementMs = 5_000; // the slowest statement here takes some 10 ms

/**
 * @param isRelaxed commits are answered before they are on disk: for what may be done twice after a crash, but not lost
 */
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

/** Amounts are far below 2^53 (see routes/intents.ts), so a bigint is read as a number. */
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

/** @returns the name of the unique or check constraint that a statement broke */
export function brokenConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error && "constraint" in error)) return undefined;
  return typeof error.constraint === "string" ? error.constraint : undefined;
}
