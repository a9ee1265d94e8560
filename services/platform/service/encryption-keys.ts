// Encryption keys that a database was used with: since when each encrypts, and whether the configured keys decrypt its
// data.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { keyIdOf, type Vault } from "#platform/secrets/vault.ts";
import { type Source, sealedColumns } from "../../services.ts";

interface KeyAge {
  readonly firstUsedAt: Date;
  /** By the database's clock. */
  readonly seconds: number;
}

export async function recordKey(sql: Sql, keyId: string): Promise<void> {
  await sql.rows("insert into encryption_counts (key_id, encryptions) values ($1, 0) on conflict do nothing", [keyId]);
}

/** Every key that has encrypted here, by its id. */
export async function readKeyAges(sql: Sql): Promise<Map<string, KeyAge>> {
  const rows = await sql.rows<{ key_id: string; first_used_at: string; seconds: number }>(
    `select key_id, first_used_at, extract(epoch from now() - first_used_at)::float8 as seconds
     from encryption_counts order by first_used_at`,
  );
  return new Map(
    rows.map(({ key_id, first_used_at, seconds }) => [key_id, { firstUsedAt: parseTime(first_used_at), seconds }]),
  );
}

/** Rows that a start reads at most to find an encrypted value; in some tables most rows have none. */
const rowsRead = 1_000;

/**
 * Why the keys are not this database's; undefined when they decrypt its data or it has none. A new key under an old
 * name would encrypt new secrets and leave all earlier ones unreadable.
 */
export async function foreignKeyOf(
  sql: Sql,
  vault: Pick<Vault, "keyIds" | "decrypt">,
  service: Source,
): Promise<string | undefined> {
  const unknown = new Set<string>();
  for (const { table, column, context } of sealedColumns[service]) {
    const [row] = await sql.rows<{ context: string; value: Buffer }>(
      `select ${context} as context, ${column} as value
       from (select * from ${table} limit ${rowsRead}) as sample where ${column} is not null limit 1`,
    );
    if (!row) continue;
    const id = keyIdOf(row.value);
    if (!vault.keyIds.has(id)) {
      unknown.add(id);
      continue;
    }
    try {
      vault.decrypt(row.value, row.context);
      return undefined;
    } catch {
      return `key ${id} does not open what this database holds (${table}.${column}): a different key has its name`;
    }
  }
  if (unknown.size === 0) return undefined;
  return `this database is sealed under ${[...unknown].join(", ")}, and none of the configured keys has that name`;
}
