// Migrates a service's database to this release: numbered SQL files of the platform and the service, each once in its
// own transaction. An advisory lock lets any number of replicas run it. The migrating role owns the tables and grants
// the service's role its rights.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { schemaFiles } from "#platform/database/schema-state.ts";
import { errorCode } from "#platform/values/unchecked.ts";
import { appendOnlyTables, type Source } from "../../../services/services.ts";
import { grantRights } from "./rights.ts";

// Any number that is not locked elsewhere in these databases.
const migrationLock = 7_655_201;
// Another replica may run a long migration; after this an operator should check.
const lockWaitMs = 60_000;
// Requests queue behind a migration that waits for a table. Shorter than PostgreSQL's deadlock_timeout of a second: in
// a deadlock the migration gives way before a request has to.
const tableLockWaitMs = 500;
// A migration may run for hours, so only TCP keepalive detects a lost server.
const connectMsMax = 5_000;
const keepAliveMs = 5_000;
const retryPauseMs = 500;
const triesMax = 120;

/**
 * Applies missing files.
 * @returns the names of the files applied now
 * @throws when an applied file was edited: add a new file instead
 */
export async function migrateDatabase(options: {
  databaseUrl: string;
  service: Source;
  /** The service's role if it differs from the migrating role; absent grants nothing. */
  serviceRole?: string | undefined;
  /** Runs under the same lock, after the migration. */
  whileLocked?: () => Promise<void>;
}): Promise<{ applied: string[] }> {
  const client = new pg.Client({
    connectionString: options.databaseUrl,
    application_name: "tollbooth-migrate",
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  await client.connect();
  try {
    await client.query(`set lock_timeout = ${lockWaitMs}`);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ name: string; checksum: string }>(
      "select name, checksum from schema_migrations",
    );
    const known = new Map(rows.map((row) => [row.name, row.checksum]));
    const applied: string[] = [];
    for (const file of schemaFiles(options.service)) {
      if (known.has(file.name)) {
        if (known.get(file.name) !== file.checksum)
          throw new Error(`${file.name} was changed after it had been applied`);
        continue;
      }
      await retryWhileLocked(client, () => applyMigration(client, file));
      applied.push(file.name);
    }
    if (options.serviceRole !== undefined) {
      const grant = { role: options.serviceRole, appendOnly: appendOnlyTables[options.service] };
      await retryWhileLocked(client, () => grantRights(client, grant));
    }
    await options.whileLocked?.();
    return { applied };
  } finally {
    await client.end();
  }
}

async function applyMigration(client: pg.Client, file: { name: string; checksum: string; sql: string }): Promise<void> {
  await client.query(file.sql);
  await client.query("insert into schema_migrations (name, checksum) values ($1, $2)", [file.name, file.checksum]);
}

/** Runs the work in one transaction, and restarts it while active requests hold its locks. */
async function retryWhileLocked(client: pg.Client, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query("begin");
      await client.query(`set local lock_timeout = ${tableLockWaitMs}`);
      await work();
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback");
      if (tries >= triesMax || !isLockedOut(error)) throw error;
      await pause(retryPauseMs);
    }
  }
}

function isLockedOut(error: unknown): boolean {
  const [lockNotAvailable, deadlockDetected] = ["55P03", "40P01"];
  return [lockNotAvailable, deadlockDetected].includes(errorCode(error));
}
