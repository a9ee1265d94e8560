// A payment as its merchant reads it: the full record with its refunds, dispute and attempts. Read-only.
import { byKey } from "#platform/database/batch.ts";
import { type GroupedSql, parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { CaptureMethod, Outcome, PaymentStatus, Verification } from "../rules/payment.ts";
import { isAuthorized, netAmount } from "../rules/payment.ts";
import type { RefundStatus } from "../rules/refund.ts";

/** A payment of the list (docs/contract.md §5, list item) and, with more, of the full record. */
export interface PaymentItem {
  readonly id: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly feeAmount: bigint;
  readonly refundedAmount: bigint;
  readonly customerEmail: string;
  /** The merchant's own order number; may be empty. */
  readonly orderReference: string;
  readonly connector: string;
  readonly captureMethod: CaptureMethod;
  /** Minor units. */
  readonly capturedAmount: bigint;
  readonly authorizedAt: Date | undefined;
  readonly card: { readonly brand: string; readonly last4: string; readonly funding: string } | undefined;
  readonly createdAt: Date;
}

export interface PaymentRecord extends Omit<PaymentItem, "card"> {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly sessionId: string;
  readonly netAmount: bigint;
  readonly connectorRef: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly authorizationCode: string;
  readonly receiptUrl: string;
  /** Undefined: it is not authorized, is captured, or the processor does not tell. */
  readonly captureBefore: Date | undefined;
  readonly capturedAt: Date | undefined;
  readonly failedAt: Date | undefined;
  readonly card:
    | { brand: string; last4: string; funding: string; fingerprint: string; expMonth: number; expYear: number }
    | undefined;
  readonly verification: Verification | undefined;
  readonly refunds: readonly RefundRecord[];
  readonly dispute: DisputeRecord | undefined;
  /** Those that have ended, oldest first. */
  readonly attempts: readonly AttemptRecord[];
  /** The last one, where it failed and nothing came after it. */
  readonly failed: AttemptRecord | undefined;
}

export interface AttemptRecord {
  /** The attempt's id at the processor; empty: there never was one. */
  readonly ref: string;
  readonly outcome: "succeeded" | "failed";
  /** The processor's words; `not_processed` and `returned` are ours. */
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly cardBrand: string;
  readonly cardLast4: string;
  readonly threeDsResult: string;
  readonly createdAt: Date;
}

export interface RefundRecord {
  readonly id: string;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: RefundStatus;
  readonly connectorRef: string;
  readonly reason: string;
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly createdAt: Date;
}

export interface DisputeRecord {
  readonly id: string;
  readonly connectorDisputeId: string;
  readonly reason: string;
  readonly status: string;
  readonly amount: bigint;
  readonly openedAt: Date;
  /** Until when evidence can be sent; undefined: not at all, or not told. */
  readonly evidenceDueAt: Date | undefined;
}

/** Whose payments: no object of another merchant or environment is ever seen. */
export interface Owner {
  readonly merchantId: string;
  readonly environment: Environment;
}

/** A row of a list. */
export interface ItemRow {
  id: string;
  amount: string;
  currency: string;
  status: PaymentStatus;
  fee_amount: string;
  refunded_amount: string;
  customer_email: string;
  order_reference: string;
  connector: string;
  capture_method: CaptureMethod;
  captured_amount: string;
  authorized_at: string | null;
  card_brand: string | null;
  card_last4: string | null;
  card_funding: string | null;
  created_at: string;
}

interface RecordRow extends ItemRow {
  merchant_id: string;
  environment: Environment;
  session_id: string | null;
  connector_ref: string | null;
  description: string;
  metadata: Record<string, string>;
  authorization_code: string;
  receipt_url: string;
  captured_at: string | null;
  capture_before: string | null;
  failed_at: string | null;
  card_fingerprint: string | null;
  card_exp_month: number | null;
  card_exp_year: number | null;
  verification: Verification | null;
  lost_amount: string;
  outcome: Outcome;
  last_attempt_ref: string;
  refunds: RefundRow[] | null;
  dispute: DisputeRow | null;
  attempts: AttemptRow[] | null;
}

/** A row of the refunds table as text and numbers. */
export interface RefundRow {
  id: string;
  payment_id: string;
  amount: number | string;
  currency: string;
  status: RefundStatus;
  connector_ref: string | null;
  reason: string;
  failure_code: string;
  failure_message: string;
  created_at: string;
}

interface AttemptRow {
  ref: string;
  outcome: "succeeded" | "failed";
  failure_code: string;
  failure_message: string;
  card_brand: string | null;
  card_last4: string | null;
  three_ds_result: string;
  started_at: string | null;
  ended_at: string;
}

/** A row of the disputes table as text and numbers. */
export interface DisputeRow {
  id: string;
  connector_ref: string;
  reason: string;
  status: string;
  amount: number | string;
  opened_at: string;
  evidence_due_at: string | null;
}

/** What an item is read from; columns of `t`. */
export const itemColumns = `t.id, t.amount, t.currency, t.status, t.fee_amount, t.refunded_amount, t.customer_email, t.order_reference,
  t.connector, t.capture_method, t.captured_amount, t.authorized_at, t.card_brand, t.card_last4, t.card_funding, t.created_at`;

/** The full record, or undefined when the owner has no such visible payment. */
export async function findRecord(sql: GroupedSql, owner: Owner, id: string): Promise<PaymentRecord | undefined> {
  const { merchantId, environment } = owner;
  return await sql.together(findRecords, { merchantId, environment, id });
}

type RecordKey = Owner & { readonly id: string };

async function findRecords(sql: Sql, wanted: readonly RecordKey[]): Promise<(PaymentRecord | undefined)[]> {
  const rows = await sql.rows<RecordRow>(
    `select ${itemColumns}, t.merchant_id, t.environment, t.session_id, t.connector_ref, t.description, t.metadata,
       t.authorization_code, t.receipt_url, t.captured_at, t.failed_at, t.card_fingerprint, t.card_exp_month,
       t.card_exp_year, t.verification, t.outcome, t.last_attempt_ref, t.capture_before,
       (select coalesce(sum(d.amount), 0) from disputes d where d.payment_id = t.id and d.status = 'lost' and not d.released) as lost_amount,
       (select jsonb_agg(r order by r.created_at, r.id) from refunds r where r.payment_id = t.id) as refunds,
       (select jsonb_agg(a order by coalesce(a.started_at, a.ended_at), a.ended_at, a.ref) from attempts a where a.payment_id = t.id) as attempts,
       (select to_jsonb(d) from disputes d where d.payment_id = t.id
         -- What holds the money: an open one, else a lost one; of several the newest.
         order by case when d.released then 2 when d.status in ('needs_response', 'under_review') then 0
           when d.status = 'lost' then 1 else 2 end, d.opened_at desc, d.id desc limit 1) as dispute
     from jsonb_to_recordset($1) as w (each integer, merchant_id text, environment smallint, id text)
       join payments t on t.id = w.id and t.merchant_id = w.merchant_id and t.environment = w.environment and t.visible
     where w.each = 1`,
    [
      byKey(
        wanted.map(({ merchantId, environment, id }) => ({ merchant_id: merchantId, environment, id })),
        "id",
      ),
    ],
  );
  const own = ({ merchantId, environment, id }: RecordKey) => JSON.stringify([merchantId, environment, id]);
  const records = new Map(rows.map(recordOf).map((record) => [own(record), record]));
  return wanted.map((each) => records.get(own(each)));
}

export function itemOf(row: ItemRow): PaymentItem {
  return {
    id: row.id,
    amount: BigInt(row.amount),
    currency: row.currency,
    status: row.status,
    feeAmount: BigInt(row.fee_amount),
    refundedAmount: BigInt(row.refunded_amount),
    customerEmail: row.customer_email,
    orderReference: row.order_reference,
    connector: row.connector,
    captureMethod: row.capture_method,
    capturedAmount: BigInt(row.captured_amount),
    authorizedAt: parseTime(row.authorized_at) ?? undefined,
    card:
      row.card_last4 === null
        ? undefined
        : { brand: row.card_brand ?? "", last4: row.card_last4, funding: row.card_funding ?? "" },
    createdAt: parseTime(row.created_at),
  };
}

function recordOf(row: RecordRow): PaymentRecord {
  const base = itemOf(row);
  const { capturedAmount } = base;
  const isHeld = isAuthorized({ outcome: row.outcome, capturedAmount });
  const attempts = (row.attempts ?? []).map(attemptOf);
  const last = attempts.find(({ ref }) => ref === row.last_attempt_ref);
  const hasFailed = last?.outcome === "failed" && (row.outcome === "failed" || row.outcome === "canceled");
  return {
    ...base,
    merchantId: row.merchant_id,
    environment: row.environment,
    sessionId: row.session_id ?? "",
    netAmount: netAmount({
      ...base,
      lostAmount: BigInt(row.lost_amount),
    }),
    captureBefore: isHeld ? (parseTime(row.capture_before) ?? undefined) : undefined,
    connectorRef: row.connector_ref ?? "",
    description: row.description,
    metadata: row.metadata,
    authorizationCode: row.authorization_code,
    receiptUrl: row.receipt_url,
    capturedAt: parseTime(row.captured_at) ?? undefined,
    failedAt: parseTime(row.failed_at) ?? undefined,
    card: base.card && {
      ...base.card,
      fingerprint: row.card_fingerprint ?? "",
      expMonth: row.card_exp_month ?? 0,
      expYear: row.card_exp_year ?? 0,
    },
    verification: row.verification ?? undefined,
    refunds: (row.refunds ?? []).map(refundOf),
    dispute: row.dispute ? disputeOf(row.dispute) : undefined,
    attempts,
    failed: hasFailed ? last : undefined,
  };
}

export function refundOf(row: RefundRow): RefundRecord {
  return {
    id: row.id,
    paymentId: row.payment_id,
    amount: BigInt(row.amount),
    currency: row.currency,
    status: row.status,
    connectorRef: row.connector_ref ?? "",
    reason: row.reason,
    failureCode: row.failure_code,
    failureMessage: row.failure_message,
    createdAt: parseTime(row.created_at),
  };
}

function attemptOf(row: AttemptRow): AttemptRecord {
  return {
    ref: row.ref,
    outcome: row.outcome,
    failureCode: row.failure_code,
    failureMessage: row.failure_message,
    cardBrand: row.card_brand ?? "",
    cardLast4: row.card_last4 ?? "",
    threeDsResult: row.three_ds_result,
    createdAt: parseTime(row.started_at ?? row.ended_at),
  };
}

export function disputeOf(row: DisputeRow): DisputeRecord {
  return {
    id: row.id,
    connectorDisputeId: row.connector_ref,
    reason: row.reason,
    status: row.status,
    amount: BigInt(row.amount),
    openedAt: parseTime(row.opened_at),
    evidenceDueAt: row.evidence_due_at === null ? undefined : parseTime(row.evidence_due_at),
  };
}
