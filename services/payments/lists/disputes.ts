// Disputes as merchants read them: one with the evidence that was sent last, or a list, newest first, with the exact
// total of the filters. Disputes are few beside payments, so that they are simply counted, from a covering index.
// Read-only.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { Condition, Params } from "#platform/lists/condition.ts";
import { afterCursor, type Cursor } from "#platform/lists/cursor.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { invalid } from "#platform/values/failure.ts";
import { type EvidenceContent, type EvidenceState, evidenceStatus } from "../rules/evidence.ts";
import { type DisputeRecord, type DisputeRow, disputeOf, type Owner } from "../store/payment-records.ts";

/** A dispute by itself. */
export interface DisputeItem extends DisputeRecord {
  readonly paymentId: string;
  readonly currency: string;
  readonly acceptance: string;
  /** Texts and files are empty in a list. */
  readonly evidence: EvidenceContent & {
    readonly status: ReturnType<typeof evidenceStatus>;
    readonly submittedAt: Date | undefined;
  };
}

export interface DisputeFilters {
  /** Exact; empty: all. */
  readonly status: string;
  /** Empty: of all payments. */
  readonly paymentId: string;
  /** Opened within, both included. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Evidence is due before. */
  readonly dueBefore: Date | undefined;
}

interface Row extends DisputeRow {
  payment_id: string;
  currency: string;
  acceptance: string;
  evidence_state: EvidenceState | null;
  submitted_at: string | null;
  texts?: EvidenceContent["texts"] | null;
  files?: EvidenceContent["files"] | null;
}

const columns = `t.id, t.connector_ref, t.reason, t.status, t.amount, t.opened_at, t.evidence_due_at, t.payment_id, t.currency,
  t.acceptance, e.state as evidence_state, e.submitted_at`;
// What never came to the processor was not sent.
const sentLast = `left join lateral (
    select * from dispute_evidence e where e.dispute_id = t.id and e.state <> 'failed'
    order by e.created_at desc, e.id desc limit 1) e on true`;

/** Undefined when the owner has no such dispute. */
export async function findDisputeRecord(sql: Sql, owner: Owner, id: string): Promise<DisputeItem | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns}, e.texts, e.files from disputes t ${sentLast}
     where t.id = $3 and t.merchant_id = $1 and t.environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && itemOf(row);
}

/** Where a dispute stands in the list. @throws Failure INVALID_BODY: the owner has none with this id */
export async function locateDispute(sql: Sql, { merchantId, environment }: Owner, id: string): Promise<Cursor> {
  const [row] = await sql.rows<{ opened_at: string }>(
    `select opened_at from disputes where id = $3 and merchant_id = $1 and environment = $2`,
    [merchantId, environment, id],
  );
  if (!row) throw invalid("after", "must be the id of an object of this list");
  return { createdAt: row.opened_at, id };
}

/** A page and the total, of one snapshot. What is passed over is passed over in the index alone. */
export async function listDisputeRecords(
  sql: Sql,
  owner: Owner,
  filters: DisputeFilters,
  { limit, offset, after }: PageWindow,
): Promise<{ rows: DisputeItem[]; total: bigint }> {
  const params = new Params();
  const where = conditionOf(owner, filters);
  const counted = where.in(params);
  const shown = after ? where.with(afterCursor(after, "t.opened_at")) : where;
  const found = await sql.rows<(Row | { id: null }) & { total: string }>(
    `select (select count(*) from disputes t where ${counted}) as total, page.* from (select) one left join (
       select ${columns} from disputes t ${sentLast} where t.id = any (array(
         select t.id from disputes t where ${shown.in(params)}
         order by t.opened_at desc, t.id desc limit ${params.add(limit)} offset ${params.add(offset)}))) page on true
     order by page.opened_at desc, page.id desc`,
    params.values,
  );
  const rows = found.flatMap((row) => (row.id === null ? [] : [itemOf(row)]));
  return { rows, total: BigInt(found[0]?.total ?? 0) };
}

function conditionOf(owner: Owner, { status, paymentId, from, to, dueBefore }: DisputeFilters): Condition {
  const range = timeRange(from, to);
  let where = new Condition("t.merchant_id = ? and t.environment = ?", owner.merchantId, owner.environment);
  if (status !== "") where = where.and("t.status = ?", status);
  if (paymentId !== "") where = where.and("t.payment_id = ?", paymentId);
  if (from) where = where.and("t.opened_at >= ?", range.from);
  if (to) where = where.and("t.opened_at < ?", range.to);
  if (dueBefore) where = where.and("t.evidence_due_at < ?", dueBefore.toISOString());
  return where;
}

function itemOf(row: Row): DisputeItem {
  return {
    ...disputeOf(row),
    paymentId: row.payment_id,
    currency: row.currency,
    acceptance: row.acceptance,
    evidence: {
      status: evidenceStatus(row.evidence_state ?? undefined),
      texts: row.texts ?? {},
      files: row.files ?? {},
      submittedAt: parseTime(row.submitted_at) ?? undefined,
    },
  };
}
