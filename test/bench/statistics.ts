// Runs at once the ANALYZE that autovacuum runs within a minute: PostgreSQL plans a statement once per connection, and
// a plan for an empty table costs several times as much.
import pg from "pg";

/** Gathers the statistics of every database of the server. */
export async function analyzeAll(url: string): Promise<void> {
  const admin = await connectSuperuser(url);
  const { rows } = await admin.query<{ datname: string }>("select datname from pg_database where not datistemplate");
  await admin.end();
  for (const { datname } of rows) {
    const target = new URL(url);
    target.pathname = `/${datname}`;
    const client = await connectSuperuser(target.href);
    await client.query("analyze");
    await client.end();
  }
}

/** A client of the superuser, whose loss ends nothing. */
export async function connectSuperuser(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
