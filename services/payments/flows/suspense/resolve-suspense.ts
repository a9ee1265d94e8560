// An operator ends what stands in suspense: gives it back, takes a refund as the merchant's, or closes it. What an item
// allows is decided by rules/suspense.ts; who did it and why is kept with the item and told to the audit log.
import type { Tx } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { IntentReport, ProcessorAnswer } from "../../connectors/connector.ts";
import { openingMovements } from "../../rules/refund.ts";
import { actionsOf, type SuspenseAction } from "../../rules/suspense.ts";
import { appendMovements } from "../../store/journal.ts";
import { findRefund, saveRefund } from "../../store/refunds/refunds.ts";
import { closeSuspense, findSuspense, type StoredSuspense } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { lockedBooks, settleNeverMade } from "../settle-payment.ts";
import { settleReport, type VerifyDeps } from "../verify-intent.ts";
import { giveBack } from "./give-back.ts";

export interface SuspenseWord {
  readonly suspenseId: string;
  readonly action: SuspenseAction;
  readonly operator: string;
  readonly note: string;
}

/**
 * @returns the item as it is then. @throws Failure NOT_FOUND, INVALID_BODY (not open, or not allowed for it),
 * CONNECTOR_ERROR.
 */
export async function resolveSuspense(deps: VerifyDeps, word: SuspenseWord): Promise<StoredSuspense> {
  const item = await findSuspense(deps.db, word.suspenseId);
  if (!item) throw new Failure("NOT_FOUND");
  const allowed = actionsOf(item);
  if (!allowed.includes(word.action)) {
    throw invalid(
      "action",
      allowed.length === 0 ? "is over: the item is closed" : `must be one of ${allowed.join(", ")}`,
    );
  }
  await noteWord(deps, item, word);
  if (word.action === "give_back") await giveBack(deps, item);
  else if (word.action === "take") await takeRefund(deps, item, word);
  else await closePayment(deps, item, word);
  const after = await findSuspense(deps.db, item.id);
  if (!after) throw new Error("an item is gone");
  return after;
}

/** Told to the audit log before anything is done: an act without its entry must not be possible. */
async function noteWord(deps: VerifyDeps, item: StoredSuspense, word: SuspenseWord): Promise<void> {
  const { id: objectId, merchantId, environment, paymentId: payment_id } = item;
  const attributes = { action: word.action, operator: word.operator, payment_id };
  const type = "operation.suspense_resolved";
  await deps.outbox.append(deps.db, [
    { type, merchantId, environment, objectId, status: word.action, at: clockNow(), attributes },
  ]);
  deps.outbox.wake();
}

/** The merchant bears a second refund like any other. */
async function takeRefund(deps: VerifyDeps, item: StoredSuspense, word: SuspenseWord): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const { payment } = await lockedBooks(tx, item.paymentId);
    const refund = await findRefund(tx, item.refundId);
    if (!refund) throw new Error("an item without its refund");
    const taken = { ...refund, unasked: false };
    await saveRefund(tx, taken);
    const released = { kind: "suspense_refund_released", cause: refund.id, amount: refund.amount } as const;
    await appendMovements(tx, payment, [released, ...openingMovements(taken)]);
    await closeOrFail(tx, item, word, "taken");
  });
}

/** Nothing of it will ever be paid. An intent that the processor knows again is settled instead. */
async function closePayment(deps: VerifyDeps, item: StoredSuspense, word: SuspenseWord): Promise<void> {
  if (item.kind === "lost_intent") {
    const answer = await askAbout(deps, item);
    if (answer.kind !== "not_found") {
      await settleReport(deps, item.paymentId, provenValue(answer), "reconcile");
      return;
    }
  }
  await deps.db.transaction(async (tx) => {
    const books = await lockedBooks(tx, item.paymentId);
    await closeOrFail(tx, item, word, "closed");
    await settleNeverMade(tx, deps, books);
  });
  deps.outbox.wake();
}

async function askAbout(deps: VerifyDeps, item: StoredSuspense): Promise<ProcessorAnswer<IntentReport>> {
  const account = await deps.accounts.byId(item.connectorAccountId);
  return await deps.connectors.get(item.connector).retrieveIntent(account, item.connectorRef);
}

async function closeOrFail(
  tx: Tx,
  { id }: StoredSuspense,
  { operator, note }: SuspenseWord,
  resolution: "taken" | "closed",
): Promise<void> {
  if (!(await closeSuspense(tx, id, { resolution, operator, note })))
    throw invalid("action", "is over: the item is closed");
}
