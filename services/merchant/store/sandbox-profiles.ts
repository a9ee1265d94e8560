// The sandbox_profiles table: a merchant's profile in the sandbox. A trigger inserts the row with the merchant, whose
// own row is the live profile.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";

export const SandboxProfileEntity = defineEntity({
  name: "SandboxProfile",
  tableName: "sandbox_profiles",
  properties: {
    merchantId: p.string().primary(),
    name: p.string(),
    legalName: p.string(),
    email: p.string(),
    phone: p.string(),
    website: p.string(),
  },
});
type SandboxProfile = InferEntity<typeof SandboxProfileEntity>;

/** Lets the transaction change one environment only. Without it a trigger for 0.1.0 changes both (schema/0007). */
export async function markProfilesSynced(sql: Sql): Promise<void> {
  await sql.rows("select set_config('tollbooth.knows_both_copies', 'on', true)");
}

export function findSandboxProfile(em: SqlEntityManager, merchantId: string): Promise<SandboxProfile> {
  return em.findOneOrFail(SandboxProfileEntity, { merchantId });
}

/** Assigned fields are written at the commit. */
export function lockSandboxProfile(em: SqlEntityManager, merchantId: string): Promise<SandboxProfile> {
  return em.findOneOrFail(SandboxProfileEntity, { merchantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
