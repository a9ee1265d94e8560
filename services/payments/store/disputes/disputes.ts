// The disputes table. The caller holds the lock on the payment whenever it writes here.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Dispute, DisputeStatus } from "../../rules/dispute.ts";
import type { ChangedDispute } from "../../rules/settlement.ts";
import type { Owner } from "../payment-records.ts";

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

/** A dispute as its merchant's answer meets it. */
export interface OwnDispute {
  readonly id: string;
  readonly paymentId: string;
  readonly connectorRef: string;
  readonly status: DisputeStatus;
  /** Conceding it; empty: nobody has. */
  readonly acceptance: "" | "pending" | "accepted";
}

/** The owner's dispute, or undefined. */
export async function findOwnDispute(sql: Sql, owner: Owner, id: string): Promise<OwnDispute | undefined> {
  const { merchantId, environment } = owner;
  return await oneDispute(sql, "id = $1 and merchant_id = $2 and environment = $3", [id, merchantId, environment]);
}

/** The dispute, whoever's it is. */
export async function findDispute(sql: Sql, id: string): Promise<OwnDispute | undefined> {
  return await oneDispute(sql, "id = $1", [id]);
}

async function oneDispute(sql: Sql, where: string, params: readonly unknown[]): Promise<OwnDispute | undefined> {
  type Found = Row & { payment_id: string; acceptance: OwnDispute["acceptance"] };
  const [row] = await sql.rows<Found>(
    `select id, payment_id, connector_ref, status, acceptance from disputes where ${where}`,
    params,
  );
  if (!row) return undefined;
  const { id, payment_id: paymentId, connector_ref: connectorRef, status, acceptance } = row;
  return { id, paymentId, connectorRef, status, acceptance };
}

/** What has become of conceding it. */
export async function saveAcceptance(tx: Tx, id: string, acceptance: OwnDispute["acceptance"]): Promise<void> {
  await tx.rows(`update disputes set acceptance = $2 where id = $1`, [id, acceptance]);
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
