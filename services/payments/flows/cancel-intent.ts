// Cancels an unpaid intent. The processor decides: a paid, authorized or processing intent is settled instead, so an
// expiring session never loses money. Phases: 1 read · 2 find an intent or renewal that was not recorded · 3 cancel at
// the processor · 4 settle in one transaction, or restart if the intent was renewed meanwhile.
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { IntentReport } from "../connectors/connector.ts";
import { isReturned, isUnpaid } from "../rules/payment.ts";
import { closeOperation, findOperation } from "../store/operations.ts";
import { findPayment, type StoredPayment } from "../store/payments.ts";
import { findOpenRenewal } from "../store/renewals.ts";
import { stopReroute } from "../store/reroutes.ts";
import { provenValue } from "./accounts/ask-processor.ts";
import { searchIntent } from "./make-at-processor.ts";
import { endRenewal } from "./renewals/adopt-renewal.ts";
import { lockBooks, type SettlementResult, settleLocked, settleNeverMade } from "./settle-payment.ts";
import { finishSettlement, type VerifyDeps, verifyIntent } from "./verify-intent.ts";

// Each further try follows a concurrent renewal, and pages live for hours.
const triesMax = 3;

/**
 * @param byMerchant see verifyIntent
 * @throws Failure NOT_FOUND, CONNECTOR_ERROR, SERVICE_UNAVAILABLE (the intent is being renewed).
 */
export async function cancelIntent(deps: VerifyDeps, paymentId: string, byMerchant = false): Promise<StoredPayment> {
  for (let tries = 0; tries < triesMax; tries++) {
    const after = await cancelOnce(deps, paymentId, byMerchant);
    if (after) return after;
  }
  throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the intent is being renewed"), retryAfterMs: 1_000 });
}

/** @returns undefined: the canceled intent has been renewed, or may be. */
async function cancelOnce(
  deps: VerifyDeps,
  paymentId: string,
  byMerchant: boolean,
): Promise<StoredPayment | undefined> {
  const read = requireFound(await findPayment(deps.db, paymentId));
  const { outcome } = read.state;
  if (outcome === "succeeded" || outcome === "canceled" || isReturned(read.state)) return read;
  crashPoint("cancel-intent.1-read");
  const renewal = await findOpenRenewal(deps.db, paymentId);
  const payment = renewal ? await endRenewal(deps, read, renewal) : read;
  const ref = payment.connectorRef || (await findUnrecordedRef(deps, payment));
  if (ref === undefined) return await cancelUnmade(deps, paymentId);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  // The buyer may have just paid: the merchant decides whether to capture or release.
  const authorized = payment.state.captureMethod === "manual" ? "keep" : "release";
  const answer = await connector.cancelIntent(account, ref, authorized);
  crashPoint("cancel-intent.2-canceled");
  if (answer.kind !== "declined") return await settleEnd(deps, payment, ref, provenValue(answer));
  const after = await verifyIntent(deps, paymentId, "reconcile", byMerchant);
  if (!isUnpaid(after.state)) return after;
  // An expired page cannot be canceled, but has ended.
  const report = provenValue(await connector.retrieveIntent(account, ref));
  return report.pageEndedAt === undefined ? after : await settleEnd(deps, payment, ref, report);
}

/** Phase 4. @returns undefined: as cancelOnce. */
async function settleEnd(
  deps: VerifyDeps,
  { id }: StoredPayment,
  ref: string,
  report: IntentReport,
): Promise<StoredPayment | undefined> {
  const settled = await deps.db.transaction((tx) => settleCancellation(tx, deps, id, ref, report));
  crashPoint("cancel-intent.3-settled");
  return settled && finishSettlement(deps, settled, "reconcile");
}

/** Settles a cancellation; the end of a page ends its intent. @returns undefined: as cancelOnce. */
export async function settleCancellation(
  tx: Tx,
  deps: VerifyDeps,
  paymentId: string,
  ref: string,
  report: IntentReport,
): Promise<SettlementResult | undefined> {
  const { pageEndedAt: at } = report;
  const end =
    at === undefined ? report : { ...report, facts: [...report.facts, { kind: "intent_canceled", at } as const] };
  const books = await lockBooks(tx, paymentId);
  const { connectorRef, formerRef, rerouteTo } = books.payment;
  const isReplaced = connectorRef === "" ? formerRef === ref : connectorRef !== ref;
  if (isReplaced || (await findOpenRenewal(tx, paymentId))) return undefined;
  if (!rerouteTo) return await settleLocked(tx, deps, books, end, "reconcile");
  // The payment ends instead of moving to its next account.
  await stopReroute(tx, paymentId);
  return await settleLocked(tx, deps, await lockBooks(tx, paymentId), end, "reconcile");
}

/** The id of an intent that was not recorded; undefined: provably none exists. @throws Failure CONNECTOR_ERROR. */
export async function findUnrecordedRef(deps: VerifyDeps, payment: StoredPayment): Promise<string | undefined> {
  const operation = await findOperation(deps.db, "create_intent", payment.id);
  if (!operation) throw new Error("a payment without its operation");
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const found = await searchIntent({ db: deps.db, connector, account, operation }, payment.surface);
  if (found.kind === "never_made") return undefined;
  return provenValue(found).report.ref;
}

async function cancelUnmade(deps: VerifyDeps, paymentId: string): Promise<StoredPayment> {
  const settled = await deps.db.transaction((tx) => endUnmadePayment(tx, deps, paymentId));
  deps.outbox.wake();
  return settled;
}

/** Ends a payment without an intent, and its operation. @returns it unchanged if its intent was recorded meanwhile. */
export async function endUnmadePayment(
  tx: Tx,
  deps: Pick<VerifyDeps, "outbox" | "reconcileAfterSeconds">,
  paymentId: string,
): Promise<StoredPayment> {
  const books = await lockBooks(tx, paymentId);
  if (books.payment.connectorRef !== "") return books.payment;
  const { payment } = await settleNeverMade(tx, deps, books);
  await closeOperation(tx, "create_intent", paymentId);
  return payment;
}
