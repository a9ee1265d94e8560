// Operations that replace an intent whose page ended. Their reference is the payment's id and the renewal's number.
import type { Sql, Tx } from "#platform/database/database.ts";
import {
  findOperation,
  type Operation,
  type OperationRow,
  operationOf,
  recordTakeOver,
  selectedColumns,
} from "./operations.ts";

/** Number of the renewal that an operation makes; 0: it is no renewal. */
export function renewalOf({ kind, reference }: Pick<Operation, "kind" | "reference">): number {
  return kind === "renew_intent" ? Number(reference.split("/")[1]) : 0;
}

/** Begins a renewal, or continues one that another run has begun. */
export async function openRenewal(
  tx: Tx,
  operation: { id: string; paymentId: string; renewal: number; sentAfter: Date | undefined },
  tryAfterSeconds: number,
): Promise<Operation> {
  const reference = `${operation.paymentId}/${operation.renewal}`;
  const [fresh] = await tx.rows<OperationRow>(
    `insert into operations as o (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, 'renew_intent', $2, $3, now() + make_interval(secs => $4), $5)
     on conflict (kind, reference) do nothing returning ${selectedColumns}`,
    [operation.id, operation.paymentId, reference, tryAfterSeconds, operation.sentAfter?.toISOString() ?? null],
  );
  if (fresh) return { ...operationOf(fresh), tried: false };
  await recordTakeOver(tx, "renew_intent", reference);
  const begun = await findOperation(tx, "renew_intent", reference);
  if (!begun) throw new Error("the renewal is missing");
  return begun;
}

/** The payment's renewal in progress, if any. */
export async function findOpenRenewal(sql: Sql, paymentId: string): Promise<Operation | undefined> {
  const [row] = await sql.rows<OperationRow>(
    `select ${selectedColumns} from operations o where payment_id = $1 and kind = 'renew_intent' and state <> 'done'`,
    [paymentId],
  );
  return row && operationOf(row);
}
