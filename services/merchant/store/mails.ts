// The mails table, a queue. A claim expires with its lease, so a crash loses no mail. It may send one twice with the
// same Message-ID.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { deleteBatch, type Stored } from "./rows.ts";

interface QueuedMail {
  readonly id: string;
  readonly kind: string;
  readonly merchantId: string;
  /** The recipient by role, or empty. */
  readonly personId: string;
  readonly objectId: string;
  readonly onceKey: string | null;
  /** Empty unless the recipient is a buyer. */
  readonly environment: "" | "sandbox" | "live";
  /** Null if there is no recipient. */
  readonly sealed: Buffer | null;
  readonly sendAt: Date;
  readonly giveUpAt: Date;
  readonly createdAt: Date;
}

export interface ClaimedMail {
  readonly id: string;
  readonly kind: string;
  readonly sealed: Buffer;
  /** Including this one. */
  readonly attempts: number;
  readonly giveUpAt: Date;
}

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

interface BuyerMails {
  readonly merchantId: string;
  readonly environment: "sandbox" | "live";
  readonly kinds: readonly string[];
}

/** Counts mails to buyers within an hour without the one of this once-key, up to `max`. */
export async function countBuyerMails(sql: Sql, of: BuyerMails, onceKey: string, max: number): Promise<number> {
  const [row] = await sql.rows<{ queued: number }>(
    `select count(*)::int as queued from (
       select from mails where environment <> '' and merchant_id = $1 and environment = $2 and kind = any($3)
         and created_at > now() - interval '1 hour' and once_key <> $4 limit $5) counted`,
    [of.merchantId, of.environment, of.kinds, onceKey, max],
  );
  return row?.queued ?? 0;
}

/** The key contains the refunded total, so `replaceRefundMail` can compare it. */
export function refundMailKey(paymentId: string, total: bigint): string {
  return `refund_receipt:${paymentId}:${total}`;
}

/**
 * Deletes a queued mail with a smaller refunded total of the payment.
 * @returns when the next mail may be sent: an hour after the last one, null for now; undefined if a mail with this or a
 * larger total exists
 */
export async function replaceRefundMail(sql: Sql, paymentId: string, total: bigint): Promise<Date | null | undefined> {
  const totalInKey = "split_part(once_key, ':', 3)::bigint";
  const isOfPayment = "kind = 'refund_receipt' and object_id = $1";
  await sql.rows(
    `delete from mails where ${isOfPayment} and status = 'queued' and attempts = 0 and ${totalInKey} < $2`,
    [paymentId, String(total)],
  );
  const [row] = await sql.rows<{ total: string | null; next: string | null }>(
    `select max(${totalInKey}) as total, max(coalesce(ended_at, next_attempt_at)) + interval '1 hour' as next
     from mails where ${isOfPayment}`,
    [paymentId],
  );
  if (BigInt(row?.total ?? 0) >= total) return undefined;
  return row?.next ? parseTime(row.next) : null;
}

/**
 * Forgets the sent mails about a payment's refunds after one failed, so that the refund made again has a mail, too.
 * @returns when the correction is sent: after a queued mail, or null for now; undefined if no mail preceded it
 */
export async function endRefundMails(sql: Sql, paymentId: string): Promise<Date | null | undefined> {
  const rows = await sql.rows<{ next: string | null }>(
    `with gone as (
       delete from mails where kind = 'refund_receipt' and object_id = $1 and status <> 'queued' returning status)
     select null as next from gone where status = 'sent'
     union all select next_attempt_at as next from mails
       where kind = 'refund_receipt' and object_id = $1 and status = 'queued'`,
    [paymentId],
  );
  if (rows.length === 0) return undefined;
  const next = rows.find((row) => row.next !== null)?.next;
  return next ? parseTime(next) : null;
}

/** Mails that a sign-in waits for, or all others. */
export type MailQueue = "sign_ins" | "others";

// A literal, since it must equal the partial index's predicate.
const signInKinds = "('sign_in_link', 'invitation', 'way_in_added', 'new_browser')";
const ofQueue = { sign_ins: `kind in ${signInKinds}`, others: `kind not in ${signInKinds}` } as const;

/** Claims due mails until the lease ends. */
export async function claimMails(
  sql: Sql,
  queue: MailQueue,
  limit: number,
  leaseSeconds: number,
): Promise<ClaimedMail[]> {
  const rows = await sql.rows<Stored<ClaimedMail>>(
    `with due as materialized (
       select id from mails where status = 'queued' and ${ofQueue[queue]} and next_attempt_at <= now()
       order by next_attempt_at limit $1 for update skip locked)
     update mails m set attempts = m.attempts + 1, next_attempt_at = now() + make_interval(secs => $2)
     from due where m.id = due.id returning m.id, m.kind, m.sealed, m.attempts, m.give_up_at as "giveUpAt"`,
    [limit, leaseSeconds],
  );
  return rows.map((row) => ({ ...row, giveUpAt: parseTime(row.giveUpAt) }));
}

/** Also deletes the content. */
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

export async function withdrawMails(sql: Sql, kind: string, objectId: string): Promise<void> {
  await sql.rows("delete from mails where object_id = $2 and kind = $1 and status = 'queued'", [kind, objectId]);
}

/** Deletes the person's unsent mails about the merchant, except these kinds. */
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

/** Counts sent and queued invitations. @param merchantId empty for the installation */
export async function countInvitationMails(sql: Sql, merchantId: string, since: Date): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    "select count(*) as n from mails where kind = 'invitation' and merchant_id = $1 and created_at > $2",
    [merchantId, since.toISOString()],
  );
  return Number(row?.n ?? 0);
}

/** @returns true if there may be more */
export function sweepMails(sql: Sql): Promise<boolean> {
  return deleteBatch(sql, "mails", "status <> 'queued' and ended_at <= now() - interval '30 days' order by ended_at");
}
