// What autovacuum does within a minute of traffic, done at once: PostgreSQL plans a statement once for each connection,
// and what it planned while a table was empty costs several times as much until the table has statistics.
import pg from "pg";

/** Gathers the statistics of every database of the server. */
export async function analyzeAll(url: string): Promise<void> {
  const names = await inDatabase(url, undefined, async (client) => {
    const { rows } = await client.query<{ datname: string }>("select datname from pg_database where not datistemplate");
    return rows.map(({ datname }) => datname);
  });
  for (const name of names) await inDatabase(url, name, (client) => client.query("analyze"));
}

async function inDatabase<T>(
  url: string,
  name: string | undefined,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const target = new URL(url);
  if (name !== undefined) target.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: target.href });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
