// Since when each encryption key encrypts for a database: an alert asks for a new one after a year. The table is named
// after counts that no release keeps.
import { parseTime, type Sql } from "#platform/database/database.ts";

export interface KeyAge {
  readonly firstUsedAt: Date;
  /** By the database's clock. */
  readonly seconds: number;
}

/** Records the key that encrypts, unless it is known. */
export async function recordKey(sql: Sql, keyId: string): Promise<void> {
  await sql.rows("insert into encryption_counts (key_id, encryptions) values ($1, 0) on conflict do nothing", [keyId]);
}

/** Of each key that ever encrypted here, by its id. */
export async function readKeyAges(sql: Sql): Promise<Map<string, KeyAge>> {
  const rows = await sql.rows<{ key_id: string; first_used_at: string; seconds: number }>(
    `select key_id, first_used_at, extract(epoch from now() - first_used_at)::float8 as seconds
     from encryption_counts order by first_used_at`,
  );
  return new Map(
    rows.map(({ key_id, first_used_at, seconds }) => [key_id, { firstUsedAt: parseTime(first_used_at), seconds }]),
  );
}
