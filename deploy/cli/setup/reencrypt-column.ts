// Encrypts a column with the current key while services keep working. A run can be stopped and repeated at any time;
// after a complete run older keys are no longer needed.
import type { Database } from "#platform/database/database.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { SealedColumn } from "../../../services/services.ts";

// A step reads 1.6 MB of table, which keeps statements and row locks short.
const blocksPerStep = 200;
// Each pass covers rows that moved during the previous one; a service that updates a row encrypts it itself.
const passesMax = 20;

/**
 * Repeats passes until one changes nothing.
 * @returns number of re-encrypted values
 * @throws if a value cannot be decrypted, since its key is missing
 */
export async function reencryptColumn(db: Database, vault: Vault, sealed: SealedColumn): Promise<number> {
  let changed = 0;
  for (let pass = 1; pass <= passesMax; pass++) {
    const { found, done } = await onePass(db, vault, sealed);
    changed += done;
    if (found === 0) return changed;
  }
  throw new Error(`${sealed.table}.${sealed.column} still has values of older keys after ${passesMax} passes`);
}

async function onePass(db: Database, vault: Vault, sealed: SealedColumn): Promise<{ found: number; done: number }> {
  const { table, column, context } = sealed;
  const [size] = await db.rows<{ blocks: number }>(
    `select (pg_relation_size('${table}') / current_setting('block_size')::int)::int as blocks`,
  );
  const counts = { found: 0, done: 0 };
  for (let block = 0; block < (size?.blocks ?? 0); block += blocksPerStep) {
    const rows = await db.rows<{ row_id: string; context: string; value: Buffer }>(
      `select ctid::text as row_id, ${context} as context, ${column} as value from ${table}
       where ctid >= $1::tid and ctid < $2::tid and ${column} is not null
         and substring(${column} from 2 for get_byte(${column}, 0)) <> $3::bytea`,
      [`(${block},0)`, `(${block + blocksPerStep},0)`, Buffer.from(vault.currentKeyId)],
    );
    if (rows.length === 0) continue;
    counts.found += rows.length;
    const values = rows.map((row) => vault.encrypt(vault.decrypt(row.value, row.context), row.context));
    // A row that was changed meanwhile has moved or holds another value; the next pass finds it.
    const updated = await db.rows(
      `update ${table} set ${column} = fresh.value
       from unnest($1::tid[], $2::bytea[], $3::bytea[]) as fresh (row_id, old, value)
       where ${table}.ctid = fresh.row_id and ${table}.${column} = fresh.old returning 1`,
      [rows.map((row) => row.row_id), rows.map((row) => row.value), values],
    );
    counts.done += updated.length;
  }
  return counts;
}
