// The authenticators table: people's authenticator apps with encrypted secrets.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";

export const AuthenticatorEntity = defineEntity({
  name: "Authenticator",
  tableName: "authenticators",
  properties: {
    personId: p.string().primary(),
    secret: p.blob().nullable(),
    pending: p.blob().nullable(),
    confirmedAt: p.datetime(3).nullable(),
    lastStep: p.bigint("bigint"),
    failures: p.integer(),
    failuresSince: p.datetime(3),
  },
});
export type Authenticator = InferEntity<typeof AuthenticatorEntity>;

/** Assigned fields are written at the commit. */
export function lockAuthenticator(em: SqlEntityManager, personId: string): Promise<Authenticator | null> {
  return em.findOne(AuthenticatorEntity, { personId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

export function findAuthenticator(em: SqlEntityManager, personId: string): Promise<Authenticator | null> {
  return em.findOne(AuthenticatorEntity, { personId });
}

/** Stores a secret until its first code is verified. */
export async function putPending(em: SqlEntityManager, personId: string, pending: Buffer, now: Date): Promise<void> {
  const stored = await lockAuthenticator(em, personId);
  if (stored) stored.pending = pending;
  else {
    const unused = { secret: null, confirmedAt: null, lastStep: 0n, failures: 0, failuresSince: now };
    await em.insert(AuthenticatorEntity, { personId, pending, ...unused });
  }
}

/** @returns false if there was none */
export async function deleteAuthenticator(em: SqlEntityManager, personId: string): Promise<boolean> {
  return (await em.nativeDelete(AuthenticatorEntity, { personId })) === 1;
}
