// A backup of a database and its restore, as a service sees them: the same rows under another name on the same server.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { withDatabase } from "../../../deploy/local/databases.ts";
import { eventually } from "../eventually.ts";
import { sharedInfra } from "../infra.ts";

/** Copies the database, which must have no connections. @returns the same login's URL of the copy */
export async function copyOf(databaseUrl: string): Promise<string> {
  const { databaseUrl: ownerUrl } = await sharedInfra();
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `copy_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`create database ${client.escapeIdentifier(copy)} template ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
  return withDatabase(databaseUrl, copy);
}

/**
 * Waits until all that the database has announced about the object is published: what a restore can then be noticed by.
 */
export async function announcedBy(databaseUrl: string, objectId: string): Promise<void> {
  await eventually(`the events of ${objectId} to be published`, async () => {
    const db = await Database.open({ url: databaseUrl, name: "test", log: createLog("test", "silent") });
    const [row] = await db.rows<{ done: boolean }>(
      "select count(*) > 0 and count(*) = count(published_at) as done from outbox where strpos(encode(body, 'escape'), $1) > 0",
      [objectId],
    );
    await db.close();
    return row?.done;
  });
}
