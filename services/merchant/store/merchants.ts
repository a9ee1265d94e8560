// The merchants table: live profile and standing.
import { defineEntity, type InferEntity, LockMode, p, raw, type SqlEntityManager } from "@mikro-orm/postgresql";
import { literalPattern } from "#platform/lists/condition.ts";
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

interface MerchantFilter {
  readonly status: MerchantStatus | undefined;
  /** A part of name, legal name or e-mail; empty: all. */
  readonly query: string;
  /** Empty: all. */
  readonly ids: readonly string[];
  readonly beforeId: string | undefined;
  readonly limit: number;
}

// The expression of the index merchants_by_text.
const searched = "lower(name || ' ' || legal_name || ' ' || email)";

export function listMerchants(em: SqlEntityManager, filter: MerchantFilter): Promise<Merchant[]> {
  const { status, query, ids, beforeId, limit } = filter;
  const where = {
    ...(status !== undefined && { status }),
    ...(query !== "" && { [raw(searched)]: { $like: `%${literalPattern(query.toLowerCase())}%` } }),
    $and: [ids.length === 0 ? {} : { id: { $in: [...ids] } }, beforeId === undefined ? {} : { id: { $lt: beforeId } }],
  };
  return em.find(MerchantEntity, where, { orderBy: { id: "desc" }, limit });
}

/** Assigned fields are written at the commit. */
export function lockMerchant(em: SqlEntityManager, id: string): Promise<Merchant | null> {
  return em.findOne(MerchantEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
