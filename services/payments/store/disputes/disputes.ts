// The disputes table. The caller holds the lock on the payment whenever it writes here.
import { asJson } from "#platform/database/batch.ts";
import {
  bigint,
  boolean,
  Columns,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { ChangedDispute, Dispute, DisputeStatus } from "../../rules/dispute.ts";
import type { Owner } from "../payment-records.ts";

const disputeColumns = new Columns({
  id: text,
  paymentId: text,
  connector: text,
  connectorRef: text,
  reason: text,
  status: sqlColumn<DisputeStatus>("text"),
  amount: bigint,
  openedAt: time,
  evidenceDueAt: optionalColumn(time),
  released: boolean,
});
const ruleColumns = disputeColumns.pick("id", "connectorRef", "status", "amount", "released");
const ownColumns = new Columns({
  id: text,
  paymentId: text,
  connectorRef: text,
  status: sqlColumn<DisputeStatus>("text"),
  /** State of the merchant's acceptance; empty: not accepted. */
  acceptance: sqlColumn<"" | "pending" | "accepted">("text"),
});

/** Disputes of the payment, oldest first. */
export async function disputesOf(sql: Sql, paymentId: string): Promise<Dispute[]> {
  const rows = await sql.rows<object>(
    `select ${ruleColumns.names()} from disputes where payment_id = $1 order by opened_at, id`,
    [paymentId],
  );
  return rows.map((row) => ruleColumns.read(row));
}

/** A dispute as its merchant's response needs it. */
export type OwnDispute = RowOf<typeof ownColumns>;

export async function findOwnDispute(sql: Sql, owner: Owner, id: string): Promise<OwnDispute | undefined> {
  const { merchantId, environment } = owner;
  return await findOne(sql, "id = $1 and merchant_id = $2 and environment = $3", [id, merchantId, environment]);
}

/** The dispute of any owner. */
export async function findDispute(sql: Sql, id: string): Promise<OwnDispute | undefined> {
  return await findOne(sql, "id = $1", [id]);
}

async function findOne(sql: Sql, where: string, params: readonly unknown[]): Promise<OwnDispute | undefined> {
  const [row] = await sql.rows<object>(`select ${ownColumns.names()} from disputes where ${where}`, params);
  return row && ownColumns.read(row);
}

export async function saveAcceptance(tx: Tx, id: string, acceptance: OwnDispute["acceptance"]): Promise<void> {
  await tx.rows(`update disputes set acceptance = $2 where id = $1`, [id, acceptance]);
}

/** Inserts a dispute, or updates the one with the same id. */
export async function saveDispute(
  tx: Tx,
  dispute: ChangedDispute & { readonly paymentId: string; readonly connector: string },
): Promise<void> {
  await tx.rows(
    `insert into disputes (${disputeColumns.names()})
     select ${disputeColumns.names()} from jsonb_to_recordset($1) as d (${disputeColumns.types})
     on conflict (id) do update set status = excluded.status, amount = excluded.amount, evidence_due_at = excluded.evidence_due_at`,
    [asJson([disputeColumns.write({ ...dispute, evidenceDueAt: dispute.evidenceDueAt })])],
  );
}

/** Releases the disputes of a returned debit. */
export async function releaseDisputes(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.rows(`update disputes set released = true where id = any($1)`, [ids]);
}
