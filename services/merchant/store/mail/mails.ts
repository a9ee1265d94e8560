// The mails table: a queue. What is claimed comes back after its lease, so that a crash loses no mail; it may send one
// twice, under the same Message-ID.
import { type Sql, time } from "#platform/database/database.ts";

export interface QueuedMail {
  readonly id: string;
  readonly kind: string;
  readonly merchantId: string;
  /** Who gets it by their role; empty: nobody by that. */
  readonly personId: string;
  readonly objectId: string;
  /** Null: told each time. */
  readonly onceKey: string | null;
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
    `insert into mails (id, kind, merchant_id, object_id, once_key, sealed, status, next_attempt_at, give_up_at, created_at, ended_at, person_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (once_key) do nothing`,
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
    ],
  );
}

/** Payment links that a merchant has sent within an hour, beside that of this session. */
export async function countLinkMails(sql: Sql, merchantId: string, sessionId: string): Promise<number> {
  const [row] = await sql.rows<{ sent: number }>(
    `select count(*)::int as sent from mails where kind = 'payment_link' and merchant_id = $1 and object_id <> $2
       and created_at > now() - interval '1 hour'`,
    [merchantId, sessionId],
  );
  return row?.sent ?? 0;
}

/** Mails whose time has come; others claim them no sooner than the lease is over. */
export async function claimMails(sql: Sql, limit: number, leaseSeconds: number): Promise<ClaimedMail[]> {
  const rows = await sql.rows<{ id: string; kind: string; sealed: Buffer; attempts: number; give_up_at: string }>(
    `with due as materialized (
       select id from mails where status = 'queued' and next_attempt_at <= now()
       order by next_attempt_at limit $1 for update skip locked)
     update mails m set attempts = m.attempts + 1, next_attempt_at = now() + make_interval(secs => $2)
     from due where m.id = due.id returning m.id, m.kind, m.sealed, m.attempts, m.give_up_at`,
    [limit, leaseSeconds],
  );
  return rows.map(({ give_up_at, ...row }) => ({ ...row, giveUpAt: time(give_up_at) }));
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
