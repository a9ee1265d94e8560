// A payment as its merchant reads it: the record with its refunds, dispute and attempts. Read-only.
import { byKey } from "#platform/database/batch.ts";
import { bigint, Columns, optionalColumn, type RowOf, text, time } from "#platform/database/columns.ts";
import type { GroupedSql, Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Card, isAuthorized, netAmount } from "../rules/payment.ts";
import { rowsOfDocument } from "./archived-rows.ts";
import { attemptRecordColumns, cardColumns, cardOf, paymentColumns } from "./payment-columns.ts";
import { refundColumns, type StoredRefund } from "./refunds/refunds.ts";

/** Columns of a list item (docs/contract.md §5) apart from the card. */
const itemFields = paymentColumns.pick(
  "id",
  "merchantId",
  "amount",
  "currency",
  "status",
  "feeAmount",
  "refundedAmount",
  "customerEmail",
  "orderReference",
  "connector",
  "captureMethod",
  "capturedAmount",
  "authorizedAt",
  "capturedAt",
  "method",
  "createdAt",
  "updatedAt",
);
const recordFields = paymentColumns.pick(
  "environment",
  "sessionId",
  "connectorRef",
  "description",
  "metadata",
  "authorizationCode",
  "receiptUrl",
  "captureBefore",
  "failedAt",
  "verification",
  "outcome",
  "lastAttemptRef",
  "version",
  "connectorAccountId",
  "routingRule",
  "routingReason",
);

/** A payment of the list. */
export interface PaymentItem extends RowOf<typeof itemFields> {
  readonly netAmount: bigint;
  readonly card: Pick<Card, "brand" | "last4" | "funding"> | undefined;
}

export interface PaymentRecord extends Omit<PaymentItem, "card">, RowOf<typeof recordFields> {
  readonly card: Card | undefined;
  readonly refunds: readonly StoredRefund[];
  readonly dispute: DisputeRecord | undefined;
  /** Those that have ended, oldest first. */
  readonly attempts: readonly AttemptRecord[];
  /** Minor units; undefined: the processor has not listed it yet, or in another currency. */
  readonly processorFee: bigint | undefined;
  /** The last attempt if the payment failed or was canceled after it failed. */
  readonly failed: AttemptRecord | undefined;
  /** It was read from the archive. */
  readonly archived?: true;
}

export interface AttemptRecord extends RowOf<typeof attemptRecordColumns> {
  readonly createdAt: Date;
}

export const disputeColumns = new Columns({
  id: text,
  connectorRef: text,
  reason: text,
  status: text,
  amount: bigint,
  openedAt: time,
  /** undefined: no evidence can be sent, or the processor names no deadline. */
  evidenceDueAt: optionalColumn(time),
});

export type DisputeRecord = RowOf<typeof disputeColumns>;

/** The merchant and environment whose objects a request may see. */
export interface Owner {
  readonly merchantId: string;
  readonly environment: Environment;
}

/** A row of a list, for `itemOf`. */
export interface ItemRow {
  readonly id: string;
  readonly lost_amount: string;
}

/** The columns of `payments t` that an item is read from. */
export const itemColumns = `${itemFields.names("t")}, ${cardColumns.names("t")},
  (select coalesce(sum(d.amount), 0) from disputes d
    where d.payment_id = t.id and d.status = 'lost' and not d.released) as lost_amount`;

/** undefined: the owner has no such visible payment. */
export async function findRecord(sql: GroupedSql, owner: Owner, id: string): Promise<PaymentRecord | undefined> {
  const { merchantId, environment } = owner;
  return await sql.batched(findRecords, { merchantId, environment, id });
}

/**
 * Payments of any merchants, in the order of the ids; undefined: there is no such visible payment. Without the
 * processor's fee, so that a version has one state.
 */
export async function findRecordsById(sql: Sql, ids: readonly string[]): Promise<(PaymentRecord | undefined)[]> {
  const owners = await sql.rows<RecordKey>(
    `select id, merchant_id as "merchantId", environment from payments where id = any ($1::text[])`,
    [ids],
  );
  const records = new Map((await findRecords(sql, owners)).map((record) => [record?.id, record]));
  return ids.map((id) => {
    const record = records.get(id);
    return record && { ...record, processorFee: undefined };
  });
}

/** @param document JSON of the archive (schema/0048-archive.sql) */
export async function findArchivedRecord(
  sql: Sql,
  owner: Owner,
  id: string,
  document: string,
): Promise<PaymentRecord | undefined> {
  const [record] = await findRecords(sql, [{ ...owner, id }], document);
  return record && { ...record, archived: true };
}

type RecordKey = Owner & { readonly id: string };

interface RecordRow extends ItemRow {
  refunds: object[] | null;
  dispute: object | null;
  attempts: object[] | null;
  processor_fee: string | null;
}

async function findRecords(
  sql: Sql,
  keys: readonly RecordKey[],
  document?: string,
): Promise<(PaymentRecord | undefined)[]> {
  const rows = await sql.rows<RecordRow>(
    `${rowsOfDocument(document && "$2")}select ${itemColumns}, ${recordFields.names("t")},
       (select jsonb_agg(r order by r.created_at, r.id) from refunds r where r.payment_id = t.id) as refunds,
       (select case when bool_and(m.currency = t.currency) then
           sum(m.fee - case when m.type in ('processor_fee', 'dispute_fee') then m.amount else 0 end) end::text
         from movements m where m.payment_id = t.id and m.type <> 'fee') as processor_fee,
       (select jsonb_agg(a order by coalesce(a.started_at, a.ended_at), a.ended_at, a.ref)
         from attempts a where a.payment_id = t.id) as attempts,
       (select to_jsonb(d) from disputes d where d.payment_id = t.id
         -- An open dispute that holds the money, else a lost one; of several the newest.
         order by case when d.released then 2 when d.status in ('needs_response', 'under_review') then 0
           when d.status = 'lost' then 1 else 2 end, d.opened_at desc, d.id desc limit 1) as dispute
     from jsonb_to_recordset($1) as w (each integer, merchant_id text, environment smallint, id text)
       join payments t on t.id = w.id and t.merchant_id = w.merchant_id and t.environment = w.environment and t.visible
     where w.each = 1`,
    [
      byKey(
        keys.map(({ merchantId, environment, id }) => ({ merchant_id: merchantId, environment, id })),
        "id",
      ),
      ...(document === undefined ? [] : [document]),
    ],
  );
  const own = ({ merchantId, environment, id }: RecordKey) => JSON.stringify([merchantId, environment, id]);
  const records = new Map(rows.map(recordOf).map((record) => [own(record), record]));
  return keys.map((each) => records.get(own(each)));
}

export function itemOf(row: ItemRow): PaymentItem {
  const card = cardOf(cardColumns.read(row));
  const item = itemFields.read(row);
  return {
    ...item,
    netAmount: netAmount({ ...item, lostAmount: BigInt(row.lost_amount) }),
    card: card && { brand: card.brand, last4: card.last4, funding: card.funding },
  };
}

function recordOf(row: RecordRow): PaymentRecord {
  const item = itemOf(row);
  const record = recordFields.read(row);
  const { outcome, lastAttemptRef } = record;
  const isHeld = isAuthorized({ outcome, capturedAmount: item.capturedAmount });
  const attempts = (row.attempts ?? []).map(attemptOf);
  const last = attempts.find(({ ref }) => ref === lastAttemptRef);
  const hasFailed = last?.outcome === "failed" && (outcome === "failed" || outcome === "canceled");
  return {
    ...item,
    ...record,
    captureBefore: isHeld ? record.captureBefore : undefined,
    card: cardOf(cardColumns.read(row)),
    refunds: (row.refunds ?? []).map((refund) => refundColumns.read(refund)),
    dispute: row.dispute ? disputeColumns.read(row.dispute) : undefined,
    attempts,
    processorFee: row.processor_fee === null ? undefined : BigInt(row.processor_fee),
    failed: hasFailed ? last : undefined,
  };
}

function attemptOf(row: object): AttemptRecord {
  const attempt = attemptRecordColumns.read(row);
  return { ...attempt, createdAt: attempt.startedAt ?? attempt.endedAt };
}
