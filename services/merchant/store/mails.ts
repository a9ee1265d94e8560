// The mails table: a queue. What is claimed comes back after its lease, so that a crash loses no mail; it may send one
// twice, under the same Message-ID.
import { parseTime, type Sql } from "#platform/database/database.ts";

export interface QueuedMail {
  readonly id: string;
  readonly kind: string;
  readonly merchantId: string;
  /** Who gets it by their role; empty: nobody by that. */
  readonly personId: string;
  readonly objectId: string;
  /** Null: told each time. */
  readonly onceKey: string | null;
  /** Empty: not to a buyer. */
  readonly environment: "" | "sandbox" | "live";
  /** Null: nobody is to get it. */
  readonly sealed: Buffer | null;
  readonly sendAt: Date;
  readonly giveUpAt: Date;
  readonly createdAt: Date;
}

export interface ClaimedMail {
  readonly id: string;
  readonly kind: string;
  readonly sealed: Buffer;
  /** This one counted in. */
  readonly attempts: number;
  readonly giveUpAt: Date;
}

/** One whose once-key is known already changes nothing. */
export async function insertMail(sql: Sql, mail: QueuedMail): Promise<void> {
  const isDropped = mail.sealed === null;
  await sql.rows(
    `insert into mails (id, kind, merchant_id, object_id, once_key, sealed, status, next_attempt_at, give_up_at, created_at, ended_at, person_id, environment)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (once_key) do nothing`,
    [
      mail.id,
      mail.kind,
      mail.merchantId,
      mail.objectId,
      mail.onceKey,
      mail.sealed,
      isDropped ? "dropped" : "queued",
      mail.sendAt.toISOString(),
      mail.giveUpAt.toISOString(),
      mail.createdAt.toISOString(),
      isDropped ? mail.createdAt.toISOString() : null,
      mail.personId,
      mail.environment,
    ],
  );
}

/** Whose mails to buyers are counted together. @param kinds a link to pay by, or receipts */
export interface BuyerMails {
  readonly merchantId: string;
  readonly environment: "sandbox" | "live";
  readonly kinds: readonly string[];
}

/** Mails to buyers within an hour, except the one of this once-key; counted no further than `max`. */
export async function countBuyerMails(sql: Sql, of: BuyerMails, onceKey: string, max: number): Promise<number> {
  const [row] = await sql.rows<{ queued: number }>(
    `select count(*)::int as queued from (
       select from mails where environment <> '' and merchant_id = $1 and environment = $2 and kind = any($3)
         and created_at > now() - interval '1 hour' and once_key <> $4 limit $5) counted`,
    [of.merchantId, of.environment, of.kinds, onceKey, max],
  );
  return row?.queued ?? 0;
}

/** The once-key carries the total that the mail names: a later total replaces the mail while it waits. */
export function refundMailKey(paymentId: string, total: bigint): string {
  return `refund_receipt:${paymentId}:${total}`;
}

/**
 * Withdraws the waiting mail about a smaller total of the payment's refunds.
 * @returns the end of the hour after the last mail; null: there was none; undefined: one names this total or a larger
 */
export async function replaceRefundMail(sql: Sql, paymentId: string, total: bigint): Promise<Date | null | undefined> {
  const named = "split_part(once_key, ':', 3)::bigint";
  const of = "kind = 'refund_receipt' and object_id = $1";
  await sql.rows(`delete from mails where ${of} and status = 'queued' and attempts = 0 and ${named} < $2`, [
    paymentId,
    String(total),
  ]);
  const [row] = await sql.rows<{ total: string | null; next: string | null }>(
    `select max(${named}) as total, max(coalesce(ended_at, next_attempt_at)) + interval '1 hour' as next
     from mails where ${of}`,
    [paymentId],
  );
  if (BigInt(row?.total ?? 0) >= total) return undefined;
  return row?.next ? parseTime(row.next) : null;
}

/** Which queue: mails that a sign-in waits for, or all others. */
export type MailQueue = "sign_ins" | "others";

// A literal, since it is the predicate of the partial index.
const signInKinds = "('sign_in_link', 'invitation', 'way_in_added', 'new_browser')";
const ofQueue = { sign_ins: `kind in ${signInKinds}`, others: `kind not in ${signInKinds}` } as const;

/** Mails whose time has come; others claim them no sooner than the lease is over. */
export async function claimMails(
  sql: Sql,
  queue: MailQueue,
  limit: number,
  leaseSeconds: number,
): Promise<ClaimedMail[]> {
  const rows = await sql.rows<{ id: string; kind: string; sealed: Buffer; attempts: number; give_up_at: string }>(
    `with due as materialized (
       select id from mails where status = 'queued' and ${ofQueue[queue]} and next_attempt_at <= now()
       order by next_attempt_at limit $1 for update skip locked)
     update mails m set attempts = m.attempts + 1, next_attempt_at = now() + make_interval(secs => $2)
     from due where m.id = due.id returning m.id, m.kind, m.sealed, m.attempts, m.give_up_at`,
    [limit, leaseSeconds],
  );
  return rows.map(({ give_up_at, ...row }) => ({ ...row, giveUpAt: parseTime(give_up_at) }));
}

/** Its text is gone with that. */
export async function endMail(sql: Sql, id: string, status: "sent" | "given_up"): Promise<void> {
  await sql.rows("update mails set status = $2, sealed = null, ended_at = now() where id = $1 and status = 'queued'", [
    id,
    status,
  ]);
}

export async function postponeMail(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.rows(
    "update mails set next_attempt_at = now() + make_interval(secs => $2) where id = $1 and status = 'queued'",
    [id, seconds],
  );
}

/** Takes back what was not sent yet. */
export async function withdrawMails(sql: Sql, kind: string, objectId: string): Promise<void> {
  await sql.rows("delete from mails where object_id = $2 and kind = $1 and status = 'queued'", [kind, objectId]);
}

/** Takes back what the person was to get at the merchant, but for these kinds. */
export async function withdrawMailsOf(
  sql: Sql,
  { personId, merchantId }: { readonly personId: string; readonly merchantId: string },
  kept: readonly string[],
): Promise<void> {
  await sql.rows(
    `delete from mails where person_id = $1 and merchant_id = $2 and person_id <> '' and status = 'queued' and kind <> all($3)`,
    [personId, merchantId, kept],
  );
}

/** Invitations of the merchant, or of the installation, that were mailed or wait to be. */
export async function countInvitationMails(sql: Sql, merchantId: string, since: Date): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    "select count(*) as n from mails where kind = 'invitation' and merchant_id = $1 and created_at > $2",
    [merchantId, since.toISOString()],
  );
  return Number(row?.n ?? 0);
}

const keepDays = 30;
const sweepMax = 1_000;

/** @returns true when there may be more */
export async function sweepMails(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select id from mails where status <> 'queued' and ended_at <= now() - make_interval(days => $1)
       order by ended_at limit $2 for update skip locked)
     delete from mails m using over where m.id = over.id returning m.id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
