// The sandbox_profiles table, mapped: a merchant's profile as its sandbox shows it. The database adds the row with the
// merchant; the live profile is the merchant's own row.
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
export type SandboxProfile = InferEntity<typeof SandboxProfileEntity>;

/**
 * Lets the transaction write one copy of a profile or a branding; without it the database changes the other one too
 * (schema/0007).
 */
export async function markProfilesSynced(sql: Sql): Promise<void> {
  await sql.rows("select set_config('tollbooth.knows_both_copies', 'on', true)");
}

export function findSandboxProfile(em: SqlEntityManager, merchantId: string): Promise<SandboxProfile> {
  return em.findOneOrFail(SandboxProfileEntity, { merchantId });
}

/** The profile, locked until the transaction ends; what is assigned to it is written at the commit. */
export function lockSandboxProfile(em: SqlEntityManager, merchantId: string): Promise<SandboxProfile> {
  return em.findOneOrFail(SandboxProfileEntity, { merchantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
