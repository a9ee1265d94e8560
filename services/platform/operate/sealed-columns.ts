// Every column of the services' databases that holds encrypted secrets, with the context that each value is bound to:
// what a rotation of the encryption keys has to go through, and what a start compares its keys with. A test compares
// the list with the schemas.
import type { Sql } from "#platform/database/database.ts";
import type { ServiceName } from "#platform/database/migrate.ts";
import { keyIdOf, type Vault } from "#platform/secrets/vault.ts";
import type { SealedColumn } from "./reencrypt.ts";

const storedAnswers: SealedColumn = {
  table: "idempotency_keys",
  column: "answer",
  context: "'idempotency:' || merchant_id || ':' || environment || ':' || key",
};

export const sealedColumns: Readonly<Record<ServiceName, readonly SealedColumn[]>> = {
  checkout: [storedAnswers, { table: "sessions", column: "render", context: "'session:' || id" }],
  payments: [
    storedAnswers,
    { table: "payments", column: "render", context: "'payment:' || id" },
    { table: "operations", column: "sealed_order", context: "'operation:' || id" },
  ],
  merchant: [
    storedAnswers,
    { table: "connectors", column: "credentials", context: "'connector:' || id" },
    { table: "mails", column: "sealed", context: "'mail:' || id" },
    { table: "authenticators", column: "secret", context: "'authenticator:' || person_id" },
    { table: "authenticators", column: "pending", context: "'authenticator:' || person_id" },
  ],
  webhook: [
    storedAnswers,
    { table: "endpoints", column: "secret", context: "'endpoint:' || id" },
    { table: "endpoints", column: "previous_secret", context: "'endpoint:' || id" },
    { table: "earlier_secrets", column: "secret", context: "'endpoint:' || endpoint_id" },
  ],
};

/** A start reads at most so many rows of a column to find a value, since most rows of some tables have none. */
const rowsRead = 1_000;

/**
 * Why the keys are not those of this database; undefined: they open what it holds, or it holds nothing yet. A key that
 * was made again under an old name would seal new secrets and leave every earlier one unreadable.
 */
export async function foreignKeyOf(
  sql: Sql,
  vault: Pick<Vault, "keyIds" | "decrypt">,
  service: ServiceName,
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
      return `key ${id} does not open what this database holds (${table}.${column}): another key has its name`;
    }
  }
  if (unknown.size === 0) return undefined;
  return `this database is sealed under ${[...unknown].join(", ")}, and none of the given keys has that name`;
}
