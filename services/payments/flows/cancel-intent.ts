// Cancels an intent that is not paid. The processor decides: an intent that was paid, authorized or is being paid is
// settled instead, so that an expiring session never loses money. Phases: 1 read · 2 look for an intent whose creation
// was never recorded · 3 cancel at the processor · 4 settle in one transaction.
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import { isReturned } from "../rules/payment.ts";
import { closeOperation, findOperation } from "../store/operations.ts";
import { findPayment, type StoredPayment } from "../store/payments.ts";
import { provenValue } from "./accounts/ask-processor.ts";
import { lookForIntent } from "./make-at-processor.ts";
import { lockedBooks, settleNeverMade } from "./settle-payment.ts";
import { settleReport, type VerifyDeps, verifyIntent } from "./verify-intent.ts";

/** @throws Failure NOT_FOUND, CONNECTOR_ERROR. */
export async function cancelIntent(deps: VerifyDeps, paymentId: string): Promise<StoredPayment> {
  const payment = await findPayment(deps.db, paymentId);
  if (!payment) throw new Failure("NOT_FOUND");
  const { outcome } = payment.state;
  if (outcome === "succeeded" || outcome === "canceled" || isReturned(payment.state)) return payment;
  crashPoint("cancel-intent.1-read");
  const ref = payment.connectorRef || (await madeRef(deps, payment));
  if (ref === undefined) return await cancelUnmade(deps, paymentId);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  // Its buyer may have paid a moment ago: that is the merchant's to take or to give up.
  const authorized = payment.state.captureMethod === "manual" ? "keep" : "release";
  const answer = await deps.connectors.get(payment.connector).cancelIntent(account, ref, authorized);
  crashPoint("cancel-intent.2-canceled");
  if (answer.kind === "declined") return await verifyIntent(deps, paymentId, "reconcile");
  const settled = await settleReport(deps, paymentId, provenValue(answer), "reconcile");
  crashPoint("cancel-intent.3-settled");
  return settled;
}

/**
 * The id of an intent whose creation was never recorded; undefined: it is proved that there is none. @throws Failure
 * CONNECTOR_ERROR.
 */
export async function madeRef(deps: VerifyDeps, payment: StoredPayment): Promise<string | undefined> {
  const operation = await findOperation(deps.db, "create_intent", payment.id);
  if (!operation) throw new Error("a payment without its operation");
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const found = await lookForIntent(deps.db, connector, account, payment.surface, operation);
  if (found.kind === "never_made") return undefined;
  return provenValue(found).report.ref;
}

/** The processor has no intent under our reference, so there is nothing to cancel there. */
async function cancelUnmade(deps: VerifyDeps, paymentId: string): Promise<StoredPayment> {
  const settled = await deps.db.transaction((tx) => endUnmadePayment(tx, deps, paymentId));
  deps.outbox.wake();
  return settled;
}

/** Ends a payment of which the processor surely has nothing, and its operation. @throws Failure NOT_FOUND. */
export async function endUnmadePayment(
  tx: Tx,
  deps: Pick<VerifyDeps, "outbox" | "reconcileAfterSeconds">,
  paymentId: string,
): Promise<StoredPayment> {
  const books = await lockedBooks(tx, paymentId);
  // Somebody has learned of it meanwhile.
  if (books.payment.connectorRef !== "") return books.payment;
  const { payment } = await settleNeverMade(tx, deps, books);
  await closeOperation(tx, "create_intent", paymentId);
  return payment;
}
