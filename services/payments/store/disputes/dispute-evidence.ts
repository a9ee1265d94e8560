// The dispute_evidence table: each submission of evidence, and what became of it. The caller holds the lock on the
// payment whenever it writes here.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { EvidenceContent, EvidenceState } from "../../rules/evidence.ts";

export interface StoredEvidence extends EvidenceContent {
  readonly id: string;
  readonly disputeId: string;
  readonly state: EvidenceState;
  readonly failureCode: string;
  readonly failureMessage: string;
}

interface Row {
  id: string;
  dispute_id: string;
  texts: EvidenceContent["texts"];
  files: EvidenceContent["files"];
  state: EvidenceState;
  failure_code: string;
  failure_message: string;
}

const columns = "id, dispute_id, texts, files, state, failure_code, failure_message";

export async function findEvidence(sql: Sql, id: string): Promise<StoredEvidence | undefined> {
  const [row] = await sql.rows<Row>(`select ${columns} from dispute_evidence where id = $1`, [id]);
  return row && evidenceOf(row);
}

/** True while a submission to the dispute is under way. */
export async function hasPendingEvidence(sql: Sql, disputeId: string): Promise<boolean> {
  const rows = await sql.rows(`select id from dispute_evidence where dispute_id = $1 and state = 'pending'`, [
    disputeId,
  ]);
  return rows.length > 0;
}

/** A submission that is under way from now on. */
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

/** What never came to the processor is sent after all. */
export async function reopenEvidence(tx: Tx, id: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'pending', failure_code = '', failure_message = '' where id = $1 and state = 'failed'`,
    [id],
  );
}

/** The processor has it, whatever was known before. */
export async function recordSubmitted(tx: Tx, id: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'submitted', submitted_at = now(), failure_code = '', failure_message = ''
     where id = $1 and state <> 'submitted'`,
    [id],
  );
}

/** The processor does not have it, and why. */
export async function recordFailed(tx: Tx, id: string, code: string, message: string): Promise<void> {
  await tx.rows(
    `update dispute_evidence set state = 'failed', failure_code = $2, failure_message = $3 where id = $1 and state = 'pending'`,
    [id, code, message.slice(0, 500)],
  );
}

function evidenceOf(row: Row): StoredEvidence {
  return {
    id: row.id,
    disputeId: row.dispute_id,
    texts: row.texts,
    files: row.files,
    state: row.state,
    failureCode: row.failure_code,
    failureMessage: row.failure_message,
  };
}
