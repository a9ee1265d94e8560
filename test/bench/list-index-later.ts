// Loading a large table without its indexes and triggers, which are made again when it is full.
import type pg from "pg";

/**
 * Drops the indexes that no constraint needs and disables the triggers.
 * @returns makes them again
 */
export async function indexLater(client: pg.Client, tables: readonly string[]): Promise<() => Promise<void>> {
  const { rows: indexes } = await client.query<{ name: string; text: string }>(
    `select indexname as name, replace(indexdef, ' ON ONLY ', ' ON ') as text from pg_indexes
     where tablename = any ($1) and indexname not in (select conname from pg_constraint)`,
    [tables],
  );
  const { rows: triggered } = await client.query<{ name: string }>(
    "select distinct tgrelid::regclass::text as name from pg_trigger where tgrelid::regclass::text = any ($1) and not tgisinternal",
    [tables],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const { name } of triggered) await client.query(`alter table ${name} disable trigger user`);
  return async () => {
    await client.query("set maintenance_work_mem = '1GB'; set work_mem = '256MB'");
    for (const { name } of triggered) await client.query(`alter table ${name} enable trigger user`);
    for (const { text } of indexes) await client.query(text);
  };
}
