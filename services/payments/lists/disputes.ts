// Reads disputes for merchants: one with its last evidence, or a list, newest first, with the exact total of the
// filters. Disputes are few compared with payments, so a covering index counts them one by one.

import { Columns, optionalColumn, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { type EvidenceContent, type EvidenceState, evidenceStatus } from "../rules/evidence.ts";
import { type DisputeRecord, disputeColumns, type Owner } from "../store/payment-records.ts";
import { ownRows, readCountedPage, rowsWithin } from "./counted-page.ts";

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

const list = { table: "disputes", from: `disputes t ${lastEvidence}`, columns, time: "opened_at" };

export async function listDisputeRecords(
  sql: Sql,
  owner: Owner,
  filters: DisputeFilters,
  window: PageWindow,
): Promise<{ rows: DisputeItem[]; total: bigint }> {
  const { status, paymentId, dueBefore } = filters;
  const opened = rowsWithin(ownRows(owner, { status, payment_id: paymentId }), "t.opened_at", filters);
  const where = dueBefore ? opened.and("t.evidence_due_at < ?", dueBefore.toISOString()) : opened;
  const { rows, total } = await readCountedPage<Row>(sql, list, where, window);
  return { rows: rows.map(itemOf), total };
}

function itemOf(row: Row): DisputeItem {
  const { evidenceState, submittedAt } = evidenceColumns.read(row);
  const { texts, files, version } = row;
  const evidence = { status: evidenceStatus(evidenceState), texts: texts ?? {}, files: files ?? {}, submittedAt };
  return { ...disputeColumns.read(row), ...ownColumns.read(row), version: BigInt(version ?? 0), evidence };
}
