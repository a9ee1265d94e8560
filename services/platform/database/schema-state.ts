// The schema of a service's database: the numbered SQL files of this release, and which of them are applied. `tollbooth
// migrate` applies them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused } from "#platform/values/failure.ts";
import type { Source } from "../../services.ts";

const retryPauseMs = 500;
// A restarting database is back within seconds; after this the supervisor should see the process fail.
const schemaWaitMs = 30_000;

/** Waits until the database answers and has this release's schema. @throws after 30 s */
export async function awaitSchema(sql: Queryable, service: Source, log: Log): Promise<void> {
  const until = performance.now() + schemaWaitMs;
  for (;;) {
    try {
      await checkSchema(sql, service);
      return;
    } catch (error) {
      // Waiting does not fix a certificate.
      if (error instanceof CertificateRefused || performance.now() > until) throw error;
      log.warn({ err: error }, "database not ready: retrying");
      await pause(retryPauseMs);
    }
  }
}

interface Queryable {
  rows<Row>(text: string): Promise<Row[]>;
}

/** @throws when the database lacks a file of this release; a newer schema is fine (release N−1 runs on schema N) */
export async function checkSchema(sql: Queryable, service: Source): Promise<void> {
  const { missing } = await schemaState(sql, service);
  if (missing.length > 0) throw new Error(`the database lacks ${missing.join(", ")}: run the migrate command first`);
}

/** Files of this release that are applied and missing, and files of a newer release. */
export async function schemaState(
  sql: Queryable,
  service: Source,
): Promise<{ applied: string[]; missing: string[]; newer: string[] }> {
  const rows = await sql.rows<{ name: string }>("select name from schema_migrations order by name");
  const known = new Set(rows.map((row) => row.name));
  const own = schemaFiles(service).map((file) => file.name);
  return {
    applied: own.filter((name) => known.has(name)),
    missing: own.filter((name) => !known.has(name)),
    newer: [...known].filter((name) => !own.includes(name)),
  };
}

/** @returns the files of the platform and then of the service, in order */
export function schemaFiles(service: Source): { name: string; sql: string; checksum: string }[] {
  const folders = [
    { prefix: "platform", path: join(import.meta.dirname, "schema") },
    { prefix: service, path: join(import.meta.dirname, "../..", service, "store/schema") },
  ];
  return folders.flatMap(({ prefix, path }) =>
    readdirSync(path)
      .filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name))
      .sort()
      .map((name) => {
        const sql = readFileSync(join(path, name), "utf8");
        return { name: `${prefix}/${name}`, sql, checksum: createHash("sha256").update(sql).digest("hex") };
      }),
  );
}
