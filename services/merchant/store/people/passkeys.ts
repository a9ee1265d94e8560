// The passkeys table: public keys only. One statement records a use and refuses a counter that does not increase, even
// for concurrent uses.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";

export const PasskeyEntity = defineEntity({
  name: "Passkey",
  tableName: "passkeys",
  properties: {
    id: p.string().primary(),
    personId: p.string(),
    rpId: p.string(),
    credentialId: p.blob(),
    publicKey: p.blob(),
    counter: p.bigint("number"),
    transports: p.array(),
    name: p.string(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type Passkey = InferEntity<typeof PasskeyEntity>;

export async function insertPasskey(em: SqlEntityManager, passkey: Passkey): Promise<void> {
  await em.insert(PasskeyEntity, passkey);
}

export function findPasskeyByCredential(em: SqlEntityManager, credentialId: Buffer): Promise<Passkey | null> {
  return em.findOne(PasskeyEntity, { credentialId });
}

/** @returns false if the person has no such passkey */
export async function deletePasskey(em: SqlEntityManager, personId: string, id: string): Promise<boolean> {
  return (await em.nativeDelete(PasskeyEntity, { id, personId })) === 1;
}

export async function deletePasskeysOf(em: SqlEntityManager, personId: string): Promise<void> {
  await em.nativeDelete(PasskeyEntity, { personId });
}

/** The person's passkeys for one host, oldest first. */
export function passkeysOf(em: SqlEntityManager, personId: string, rpId: string): Promise<Passkey[]> {
  return em.find(PasskeyEntity, { personId, rpId }, { orderBy: { id: "asc" } });
}

/** @returns false if it was deleted, or its counter did not increase and the passkey may be a copy */
export async function recordPasskeyUse(sql: Sql, id: string, counter: number, at: Date): Promise<boolean> {
  const rows = await sql.rows(
    `update passkeys set counter = $2, last_used_at = $3
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning id`,
    [id, counter, at.toISOString()],
  );
  return rows.length === 1;
}
