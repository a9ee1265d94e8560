// What autovacuum does within a minute of traffic, done at once: PostgreSQL plans a statement once for each connection,
// and what it planned while a table was empty costs several times as much until the table has statistics.
import { connect } from "./statements.ts";

/** Gathers the statistics of every database of the server. */
export async function analyzeAll(url: string): Promise<void> {
  const admin = await connect(url);
  const { rows } = await admin.query<{ datname: string }>("select datname from pg_database where not datistemplate");
  await admin.end();
  for (const { datname } of rows) {
    const target = new URL(url);
    target.pathname = `/${datname}`;
    const client = await connect(target.href);
    await client.query("analyze");
    await client.end();
  }
}
