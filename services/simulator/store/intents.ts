// Reads intents with their attempts, refunds and disputes in one statement, and refunds as the API shows them.
// intent-writes.ts writes them.
import type { Intent, Refund } from "../rules/intent.ts";
import type { Db } from "./pool.ts";

const selectSql = `select i.*,
  (select coalesce(json_agg(a order by a.seq), '[]') from attempts a where a.intent_id = i.id) as attempts,
  (select coalesce(json_agg(r order by r.created_at, r.id), '[]') from refunds r where r.intent_id = i.id) as refunds,
  (select coalesce(json_agg(d order by d.opened_at, d.id), '[]') from disputes d where d.intent_id = i.id) as disputes
  from intents i`;

export async function findIntent(db: Db, id: string): Promise<Intent | undefined> {
  const found = await db.query<StoredIntent>({
    name: "find-intent",
    text: `${selectSql} where i.id = $1`,
    values: [id],
  });
  return found.rows[0] && fromRow(found.rows[0]);
}

const sameReferenceMax = 100; // a caller makes one, or two by mistake

export async function findIntentsByReference(db: Db, account: string, reference: string): Promise<Intent[]> {
  const { rows: found } = await db.query<StoredIntent>({
    name: "find-intents-by-reference",
    text: `${selectSql} where i.account = $1 and i.reference = $2 and i.lost_at is null
      order by i.created_at, i.id limit ${sameReferenceMax}`,
    values: [account, reference],
  });
  return found.map(fromRow);
}

export async function findIntentByReceipt(db: Db, token: string): Promise<Intent | undefined> {
  const found = await db.query<StoredIntent>({
    name: "find-intent-by-receipt",
    text: `${selectSql} where i.receipt_token = $1 and i.lost_at is null`,
    values: [token],
  });
  return found.rows[0] && fromRow(found.rows[0]);
}

export async function intentIdOf(db: Db, table: "attempts" | "refunds" | "disputes", id: string) {
  const found = await db.query<{ intent_id: string }>({
    name: `intent-of-${table}`,
    text: `select intent_id from ${table} where id = $1`,
    values: [id],
  });
  return found.rows[0]?.intent_id;
}

type TimeColumn =
  | "created_at"
  | "paid_at"
  | "capture_before"
  | "canceled_at"
  | "outage_until"
  | "returned_at"
  | "lost_at"
  | "page_expires_at";
type StoredIntent = Omit<Intent, TimeColumn> & { created_at: Date } & {
  [K in Exclude<TimeColumn, "created_at">]: Date | null;
};

/** Normalizes times: columns give a Date, JSON an offset and microseconds. */
function fromRow(row: StoredIntent): Intent {
  return {
    ...row,
    status: isOver(row) ? "expired" : row.status,
    page_expires_at: instant(row.page_expires_at),
    created_at: row.created_at.toISOString(),
    paid_at: instant(row.paid_at),
    capture_before: instant(row.capture_before),
    canceled_at: instant(row.canceled_at),
    outage_until: instant(row.outage_until),
    returned_at: instant(row.returned_at),
    lost_at: instant(row.lost_at),
    attempts: row.attempts.map((one) => ({
      ...one,
      created_at: utc(one.created_at),
      settled_at: instant(one.settled_at),
    })),
    refunds: row.refunds.map((one) => ({ ...one, created_at: utc(one.created_at), moved_at: utc(one.moved_at) })),
    disputes: row.disputes.map((one) => ({
      ...one,
      opened_at: utc(one.opened_at),
      evidence_due_at: utc(one.evidence_due_at),
      evidence_at: instant(one.evidence_at),
      closed_at: instant(one.closed_at),
      moved_at: utc(one.moved_at),
    })),
  };
}

/** The page has expired without an attempt in progress; a begun attempt continues. */
function isOver({ status, page_expires_at: end, returned_at: returned }: StoredIntent): boolean {
  return status === "requires_payment_method" && returned === null && end !== null && end.getTime() <= Date.now();
}

function utc(time: string | Date): string {
  return new Date(time).toISOString();
}

function instant(time: string | Date | null): string | null {
  return time === null ? null : utc(time);
}

/** A refund, and the end of the outage of its intent. */
type FoundRefund = Refund & { readonly outage_until: string | null; readonly intent_reference: string };

const refundSql = `select r.*, i.outage_until, i.reference as intent_reference
  from refunds r join intents i on i.id = r.intent_id`;

export async function findRefund(db: Db, account: string, id: string): Promise<FoundRefund | undefined> {
  const { rows } = await db.query<StoredRefund>({
    name: "find-refund",
    text: `${refundSql} where r.id = $1 and r.account = $2 and i.lost_at is null`,
    values: [id, account],
  });
  return rows[0] && refundFromRow(rows[0]);
}

export async function findRefundsByReference(db: Db, account: string, reference: string): Promise<FoundRefund[]> {
  const { rows } = await db.query<StoredRefund>({
    name: "find-refunds-by-reference",
    text: `${refundSql} where r.account = $1 and r.reference = $2 and i.lost_at is null
      order by r.created_at, r.id limit ${sameReferenceMax}`,
    values: [account, reference],
  });
  return rows.map(refundFromRow);
}

type RefundTimeColumn = "created_at" | "moved_at" | "outage_until";
type StoredRefund = Omit<FoundRefund, RefundTimeColumn> & {
  created_at: Date;
  moved_at: Date;
  outage_until: Date | null;
};

function refundFromRow(row: StoredRefund): FoundRefund {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    moved_at: row.moved_at.toISOString(),
    outage_until: row.outage_until ? row.outage_until.toISOString() : null,
  };
}
