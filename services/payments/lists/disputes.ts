// Reads disputes for merchants: one with its last evidence, or a list, newest first, with the exact total of the
// filters. Disputes are few compared with payments, so a covering index counts them one by one.

import { Columns, optionalColumn, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";
import { Condition, Params } from "#platform/lists/condition.ts";
import { afterCursor, type Cursor } from "#platform/lists/cursor.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { invalidField } from "#platform/values/failure.ts";
import { type EvidenceContent, type EvidenceState, evidenceStatus } from "../rules/evidence.ts";
import { type DisputeRecord, disputeColumns, type Owner } from "../store/payment-records.ts";

export interface DisputeItem extends DisputeRecord {
  readonly paymentId: string;
  readonly currency: string;
  readonly acceptance: string;
  /** Of the payment; 0 in a list. */
  readonly version: bigint;
  /** Texts and files are empty in a list. */
  readonly evidence: EvidenceContent & {
    readonly status: ReturnType<typeof evidenceStatus>;
    readonly submittedAt: Date | undefined;
  };
}

interface DisputeFilters {
  /** Exact; empty: all. */
  readonly status: string;
  /** Empty: all payments. */
  readonly paymentId: string;
  /** Opened in this range, both ends included. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly dueBefore: Date | undefined;
}

const ownColumns = new Columns({ paymentId: text, currency: text, acceptance: text });
const evidenceColumns = new Columns({
  evidenceState: optionalColumn(sqlColumn<EvidenceState>("text")),
  submittedAt: optionalColumn(time),
});

interface Row {
  id: string;
  texts?: EvidenceContent["texts"] | null;
  files?: EvidenceContent["files"] | null;
  version?: string;
}

const columns = `${disputeColumns.names("t")}, ${ownColumns.names("t")}, e.state as evidence_state, e.submitted_at`;
// Failed evidence never reached the processor.
const lastEvidence = `left join lateral (
    select * from dispute_evidence e where e.dispute_id = t.id and e.state <> 'failed'
    order by e.created_at desc, e.id desc limit 1) e on true`;

/** undefined: the owner has no such dispute. */
export async function findDisputeRecord(sql: Sql, owner: Owner, id: string): Promise<DisputeItem | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns}, e.texts, e.files, p.version from disputes t join payments p on p.id = t.payment_id ${lastEvidence}
     where t.id = $3 and t.merchant_id = $1 and t.environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && itemOf(row);
}

/** The list position of a dispute. @throws Failure INVALID_BODY: the owner has no such dispute */
export async function locateDispute(sql: Sql, { merchantId, environment }: Owner, id: string): Promise<Cursor> {
  const [row] = await sql.rows<{ opened_at: string }>(
    `select opened_at from disputes where id = $3 and merchant_id = $1 and environment = $2`,
    [merchantId, environment, id],
  );
  if (!row) throw invalidField("after", "must be the id of an object of this list");
  return { createdAt: row.opened_at, id };
}

/** A page and the total in one snapshot. Rows before the offset are skipped in the index. */
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
       select ${columns} from disputes t ${lastEvidence} where t.id = any (array(
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
  const { evidenceState, submittedAt } = evidenceColumns.read(row);
  const { texts, files, version } = row;
  const evidence = { status: evidenceStatus(evidenceState), texts: texts ?? {}, files: files ?? {}, submittedAt };
  return { ...disputeColumns.read(row), ...ownColumns.read(row), version: BigInt(version ?? 0), evidence };
}
