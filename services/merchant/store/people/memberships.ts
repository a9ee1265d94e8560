// The memberships table, mapped: who may do what for which merchant, or (with an empty merchantId) for the
// installation.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";
import type { SessionPerson } from "./console-sessions.ts";

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

/** A membership with its person, as colleagues see them. */
export interface MemberRow extends SessionPerson {
  readonly role: string;
  readonly refundAmount: bigint | null;
  readonly refundCurrency: string | null;
  readonly joinedAt: Date;
  readonly lastSeenAt: Date | null;
  readonly hasPasskey: boolean;
  readonly hasAuthenticator: boolean;
}

export async function insertMembership(em: SqlEntityManager, membership: Membership): Promise<void> {
  await em.insert(MembershipEntity, membership);
}

/** With what the person chose there. */
export async function deleteMembership(em: SqlEntityManager, personId: string, merchantId: string): Promise<void> {
  await em.nativeDelete(MembershipEntity, { personId, merchantId });
}

export function countInRole(em: SqlEntityManager, merchantId: string, role: string): Promise<number> {
  return em.count(MembershipEntity, { merchantId, role });
}

export function findMembership(em: SqlEntityManager, personId: string, merchantId: string): Promise<Membership | null> {
  return em.findOne(MembershipEntity, { personId, merchantId });
}

/** At both doors. */
export function findMemberships(em: SqlEntityManager, personId: string): Promise<Membership[]> {
  return em.find(MembershipEntity, { personId });
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

/** By name. @param only one person; absent: all */
export async function membersOf(sql: Sql, merchantId: string, only?: string): Promise<MemberRow[]> {
  const rows = await sql.rows<MemberFound>(
    `select p.id, p.email, p.name, p.language, m.role, m.refund_amount, m.refund_currency, m.joined_at, p.last_seen_at,
       exists (select from passkeys k where k.person_id = p.id) as has_passkey,
       exists (select from authenticators a where a.person_id = p.id and a.confirmed_at is not null) as has_authenticator
     from memberships m join persons p on p.id = m.person_id
     where m.merchant_id = $1 and ($2::text is null or m.person_id = $2) order by lower(p.name), p.id limit $3`,
    [merchantId, only ?? null, membershipsMax],
  );
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    language: row.language,
    role: row.role,
    refundAmount: row.refund_amount === null ? null : BigInt(row.refund_amount),
    refundCurrency: row.refund_currency,
    joinedAt: parseTime(row.joined_at),
    lastSeenAt: parseTime(row.last_seen_at),
    hasPasskey: row.has_passkey,
    hasAuthenticator: row.has_authenticator,
  }));
}

interface MemberFound extends SessionPerson {
  readonly role: string;
  readonly refund_amount: string | null;
  readonly refund_currency: string | null;
  readonly joined_at: string;
  readonly last_seen_at: string | null;
  readonly has_passkey: boolean;
  readonly has_authenticator: boolean;
}

/** Until the transaction ends nobody else changes who belongs there, or who is invited. */
export async function lockScope(sql: Sql, merchantId: string): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock(hashtextextended('people:' || $1, 0))", [merchantId]);
}
