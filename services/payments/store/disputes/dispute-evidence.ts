// The dispute_evidence table: each submission of evidence with its state. The caller holds the lock on the payment
// whenever it writes here.

import { Columns, type RowOf, sqlColumn, text } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { EvidenceContent, EvidenceState } from "../../rules/evidence.ts";

const evidenceColumns = new Columns({
  id: text,
  disputeId: text,
  texts: sqlColumn<EvidenceContent["texts"]>("jsonb"),
  files: sqlColumn<EvidenceContent["files"]>("jsonb"),
  state: sqlColumn<EvidenceState>("text"),
  failureCode: text,
  failureMessage: text,
});

export type StoredEvidence = RowOf<typeof evidenceColumns>;

export async function findEvidence(sql: Sql, id: string): Promise<StoredEvidence | undefined> {
  const [row] = await sql.rows<object>(`select ${evidenceColumns.names()} from dispute_evidence where id = $1`, [id]);
  return row && evidenceColumns.read(row);
}

/** True while a submission to the dispute is in progress. */
export async function hasPendingEvidence(sql: Sql, disputeId: string): Promise<boolean> {
  const rows = await sql.rows(`select id from dispute_evidence where dispute_id = $1 and state = 'pending'`, [
    disputeId,
  ]);
  return rows.length > 0;
}

export async function insertEvidence(
  tx: Tx,
  { id, disputeId, texts, files }: Pick<StoredEvidence, "id" | "disputeId" | "texts" | "files">,
): Promise<void> {
  await tx.rows(`insert into dispute_evidence (id, dispute_id, texts, files) values ($1, $2, $3, $4)`, [
    id,
    disputeId,
    JSON.stringify(texts),
    JSON.stringify(files),
  ]);
}

/** Restarts a submission that failed. */
export async function reopenEvidence(tx: Tx, id: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'pending', failure_code = '', failure_message = '' where id = $1 and state = 'failed'`,
    [id],
  );
}

export async function recordSubmitted(tx: Tx, id: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'submitted', submitted_at = now(), failure_code = '', failure_message = ''
     where id = $1 and state <> 'submitted'`,
    [id],
  );
}

export async function recordFailed(tx: Tx, id: string, code: string, message: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'failed', failure_code = $2, failure_message = $3 where id = $1 and state = 'pending'`,
    [id, code, message.slice(0, 500)],
  );
}
