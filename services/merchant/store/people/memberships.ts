// The memberships table, mapped: who may do what for which merchant, or (with an empty merchantId) for the
// installation.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";

export const MembershipEntity = defineEntity({
  name: "Membership",
  tableName: "memberships",
  properties: {
    personId: p.string().primary(),
    merchantId: p.string().primary(),
    role: p.string(),
    refundAmount: p.bigint("bigint").nullable(),
    refundCurrency: p.string().nullable(),
    joinedAt: p.datetime(3),
  },
});
export type Membership = InferEntity<typeof MembershipEntity>;

/** A membership with what its person sees of the merchant. */
export interface OwnMembership {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly merchantStatus: string;
  readonly role: string;
  readonly refundAmount: bigint | null;
  readonly refundCurrency: string | null;
}

// More than anybody has; a page reads them all.
const membershipsMax = 500;

export async function insertMembership(em: SqlEntityManager, membership: Membership): Promise<void> {
  await em.insert(MembershipEntity, membership);
}

export function findMembership(em: SqlEntityManager, personId: string, merchantId: string): Promise<Membership | null> {
  return em.findOne(MembershipEntity, { personId, merchantId });
}

/** The person's, of a door, by the name of the merchant. */
export async function membershipsOf(sql: Sql, personId: string, door: Door): Promise<OwnMembership[]> {
  const rows = await sql.rows<Omit<OwnMembership, "refundAmount"> & { refundAmount: string | null }>(
    `select m.merchant_id as "merchantId", coalesce(t.name, '') as "merchantName", coalesce(t.status, '') as "merchantStatus",
       m.role, m.refund_amount as "refundAmount", m.refund_currency as "refundCurrency"
     from memberships m left join merchants t on t.id = m.merchant
     where m.person_id = $1 and (m.merchant_id = '') = $2 order by t.name, m.merchant_id limit $3`,
    [personId, door === "operators", membershipsMax],
  );
  return rows.map((row) => ({ ...row, refundAmount: row.refundAmount === null ? null : BigInt(row.refundAmount) }));
}

/** Until the transaction ends nobody else changes who belongs there, or who is invited. */
export async function lockScope(sql: Sql, merchantId: string): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock(hashtextextended('people:' || $1, 0))", [merchantId]);
}
