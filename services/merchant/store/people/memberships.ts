// The memberships table: people's roles at merchants, or at the installation with an empty merchantId. The known_people
// table also keeps former members.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";
import type { Stored } from "../rows.ts";
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
    refundOthers: p.json<RefundOthers>(),
    joinedAt: p.datetime(3),
  },
});
export type Membership = InferEntity<typeof MembershipEntity>;

/** Minor units by currency. */
export type RefundOthers = Readonly<Record<string, number>>;

export interface OwnMembership {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly merchantStatus: string;
  readonly merchantTimeZone: string;
  readonly role: string;
  readonly refundAmount: bigint | null;
  readonly refundCurrency: string | null;
  readonly refundOthers: RefundOthers;
}

// More than any person or team has.
const membershipsMax = 500;

/** A membership as colleagues see it. */
export interface MemberRow extends SessionPerson {
  readonly role: string;
  readonly refundAmount: bigint | null;
  readonly refundCurrency: string | null;
  readonly refundOthers: RefundOthers;
  readonly joinedAt: Date;
  readonly lastSeenAt: Date | null;
  readonly hasPasskey: boolean;
  readonly hasAuthenticator: boolean;
}

export async function insertMembership(em: SqlEntityManager, membership: Membership): Promise<void> {
  await em.insert(MembershipEntity, membership);
}

/** A cascade deletes the person's choices, too. */
export async function deleteMembership(em: SqlEntityManager, personId: string, merchantId: string): Promise<void> {
  await em.nativeDelete(MembershipEntity, { personId, merchantId });
}

export function countInRole(em: SqlEntityManager, merchantId: string, role: string): Promise<number> {
  return em.count(MembershipEntity, { merchantId, role });
}

export function findMembership(em: SqlEntityManager, personId: string, merchantId: string): Promise<Membership | null> {
  return em.findOne(MembershipEntity, { personId, merchantId });
}

/** In both consoles. */
export function findMemberships(em: SqlEntityManager, personId: string): Promise<Membership[]> {
  return em.find(MembershipEntity, { personId });
}

export async function membershipsOf(sql: Sql, personId: string, door: Door): Promise<OwnMembership[]> {
  const rows = await sql.rows<Omit<OwnMembership, "refundAmount"> & { refundAmount: string | null }>(
    `select m.merchant_id as "merchantId", coalesce(t.name, '') as "merchantName", coalesce(t.status, '') as "merchantStatus",
       coalesce(t.time_zone, '') as "merchantTimeZone", m.role, m.refund_amount as "refundAmount", m.refund_currency as "refundCurrency",
       m.refund_others as "refundOthers"
     from memberships m left join merchants t on t.id = m.merchant
     where m.person_id = $1 and (m.merchant_id = '') = $2 order by t.name, m.merchant_id limit $3`,
    [personId, door === "operators", membershipsMax],
  );
  return rows.map((row) => ({ ...row, refundAmount: row.refundAmount === null ? null : BigInt(row.refundAmount) }));
}

/** By name. @param only one person; absent for all */
export async function membersOf(sql: Sql, merchantId: string, only?: string): Promise<MemberRow[]> {
  const rows = await sql.rows<Stored<Omit<MemberRow, "refundAmount">> & { refundAmount: string | null }>(
    `select p.id, p.email, p.name, p.language, m.role, m.refund_amount as "refundAmount",
       m.refund_currency as "refundCurrency", m.refund_others as "refundOthers", m.joined_at as "joinedAt", p.last_seen_at as "lastSeenAt",
       exists (select from passkeys k where k.person_id = p.id) as "hasPasskey",
       exists (select from authenticators a where a.person_id = p.id and a.confirmed_at is not null) as "hasAuthenticator"
     from memberships m join persons p on p.id = m.person_id
     where m.merchant_id = $1 and ($2::text is null or m.person_id = $2) order by lower(p.name), p.id limit $3`,
    [merchantId, only ?? null, membershipsMax],
  );
  return rows.map((row) => ({
    ...row,
    refundAmount: row.refundAmount === null ? null : BigInt(row.refundAmount),
    joinedAt: parseTime(row.joinedAt),
    lastSeenAt: parseTime(row.lastSeenAt),
  }));
}

export async function rememberPerson(sql: Sql, merchantId: string, personId: string): Promise<void> {
  await sql.rows("insert into known_people (merchant_id, person_id) values ($1, $2) on conflict do nothing", [
    merchantId,
    personId,
  ]);
}

/** The current and former members among these people. */
export function knownPeople(sql: Sql, merchantId: string, ids: readonly string[]): Promise<SessionPerson[]> {
  return sql.rows<SessionPerson>(
    `select p.id, p.email, p.name, p.language from known_people k join persons p on p.id = k.person_id
     where k.merchant_id = $1 and k.person_id = any($2)`,
    [merchantId, ids],
  );
}

/** Locks the team's members and invitations until the transaction ends. */
export async function lockScope(sql: Sql, merchantId: string): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock(hashtextextended('people:' || $1, 0))", [merchantId]);
}
