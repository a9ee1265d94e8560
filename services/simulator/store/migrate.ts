// Migrates the database: the numbered files of schema/, each once in a transaction, under a lock for concurrent starts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "./pool.ts";

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
