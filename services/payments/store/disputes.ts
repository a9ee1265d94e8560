// The disputes table. The caller holds the lock on the payment whenever it writes here.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Dispute, DisputeStatus } from "../rules/dispute.ts";
import type { ChangedDispute } from "../rules/settlement.ts";

interface Row {
  id: string;
  connector_ref: string;
  status: DisputeStatus;
  amount: string;
  released: boolean;
}

/** Disputes of the payment, oldest first. */
export async function disputesOf(sql: Sql, paymentId: string): Promise<Dispute[]> {
  const rows = await sql.rows<Row>(
    `select id, connector_ref, status, amount, released from disputes where payment_id = $1 order by opened_at, id`,
    [paymentId],
  );
  return rows.map((row) => ({
    id: row.id,
    connectorRef: row.connector_ref,
    status: row.status,
    amount: BigInt(row.amount),
    released: row.released,
  }));
}

/** Inserts a dispute or moves the one with the same id to its new status. */
export async function saveDispute(
  tx: Tx,
  dispute: ChangedDispute & { readonly paymentId: string; readonly connector: string },
): Promise<void> {
  await tx.rows(
    `insert into disputes (id, payment_id, connector, connector_ref, reason, status, amount, opened_at, evidence_due_at, released)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do update set status = excluded.status, amount = excluded.amount, evidence_due_at = excluded.evidence_due_at`,
    [
      dispute.id,
      dispute.paymentId,
      dispute.connector,
      dispute.connectorRef,
      dispute.reason,
      dispute.status,
      dispute.amount,
      dispute.openedAt.toISOString(),
      dispute.evidenceDueAt?.toISOString() ?? null,
      dispute.released,
    ],
  );
}

/** What they are about came back. */
export async function releaseDisputes(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.rows(`update disputes set released = true where id = any($1)`, [ids]);
}
