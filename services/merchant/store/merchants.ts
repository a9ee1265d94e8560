// The merchants table: live profile and standing.
import { defineEntity, type InferEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { MerchantStatus } from "../rules/profile.ts";

export const MerchantEntity = defineEntity({
  name: "Merchant",
  tableName: "merchants",
  properties: {
    id: p.string().primary(),
    name: p.string(),
    legalName: p.string(),
    status: p.string().$type<MerchantStatus>(),
    country: p.string(),
    currency: p.string(),
    email: p.string(),
    phone: p.string(),
    website: p.string(),
    refundsEnabled: p.boolean(),
    failoverEnabled: p.boolean(),
    timeZone: p.string(),
    createdAt: p.datetime(3),
  },
});
export type Merchant = InferEntity<typeof MerchantEntity>;

/** Writes the row at once, since other rows refer to it. */
export async function insertMerchant(em: SqlEntityManager, merchant: Merchant): Promise<void> {
  await em.insert(MerchantEntity, merchant);
}

export function findMerchant(em: SqlEntityManager, id: string): Promise<Merchant | null> {
  return em.findOne(MerchantEntity, { id });
}

export function listMerchants(
  em: SqlEntityManager,
  filter: { status: MerchantStatus | undefined; beforeId: string | undefined; limit: number },
): Promise<Merchant[]> {
  const where = {
    ...(filter.status === undefined ? {} : { status: filter.status }),
    ...(filter.beforeId === undefined ? {} : { id: { $lt: filter.beforeId } }),
  };
  return em.find(MerchantEntity, where, { orderBy: { id: "desc" }, limit: filter.limit });
}

/** Assigned fields are written at the commit. */
export function lockMerchant(em: SqlEntityManager, id: string): Promise<Merchant | null> {
  return em.findOne(MerchantEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
