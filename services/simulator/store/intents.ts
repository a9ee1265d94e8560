// Reads intents with their attempts, refunds and disputes in one statement. intent-writes.ts writes them.
import type { Intent } from "../rules/intent.ts";
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

/** The intent of an attempt, refund or dispute. */
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
