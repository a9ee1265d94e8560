// Operations for captures and cancellations that merchants request. A payment has at most one in progress, and the
// caller holds the payment's lock whenever it writes here.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Ending } from "../rules/capture.ts";
import { findOperation, firstTry, type Operation } from "./operations.ts";

interface Row {
  kind: Ending["kind"];
  amount: string | null;
}

/** The capture or cancellation in progress, if any. */
export async function findActiveEnding(sql: Sql, paymentId: string): Promise<Ending | undefined> {
  const [row] = await sql.rows<Row>(
    `select kind, amount from operations where payment_id = $1 and kind in ('capture', 'cancel') and state <> 'done'`,
    [paymentId],
  );
  return row && endingOf(row);
}

/**
 * Begins a capture or cancellation. An earlier one of the kind that failed is restarted under a new key.
 * @param tryAfterSeconds when the reconcile job first checks it
 */
export async function openEnding(
  tx: Tx,
  { id, paymentId, kind, amount }: Ending & { readonly id: string; readonly paymentId: string },
  sentAfter: Date | undefined,
  tryAfterSeconds: number,
): Promise<Operation> {
  const [row] = await tx.rows<{ is_new: boolean }>(
    `insert into operations as o (id, kind, payment_id, reference, amount, next_try_at, sent_after)
     values ($1, $2, $3, $3, $4, now() + make_interval(secs => $5), $6)
     on conflict (kind, reference) do update set state = 'started', amount = excluded.amount, tries = 1,
       next_try_at = excluded.next_try_at, generation = o.generation + 1, key_since = now(), not_found_since = null
     where o.state = 'done'
     returning xmax = 0 as is_new`,
    [id, kind, paymentId, kind === "capture" ? amount : null, tryAfterSeconds, sentAfter?.toISOString() ?? null],
  );
  if (row?.is_new) return firstTry(id, kind, paymentId, sentAfter, { amount });
  const again = row && (await findOperation(tx, kind, paymentId));
  if (!again) throw new Error("the operation was not written");
  return again;
}

/** Ends the capture or cancellation in progress. @returns it, if there was one */
export async function closeEndings(tx: Tx, paymentId: string): Promise<Ending | undefined> {
  const [row] = await tx.rows<Row>(
    `update operations set state = 'done'
     where payment_id = $1 and kind in ('capture', 'cancel') and state <> 'done' returning kind, amount`,
    [paymentId],
  );
  return row && endingOf(row);
}

function endingOf({ kind, amount }: Row): Ending {
  return { kind, amount: BigInt(amount ?? 0) };
}
