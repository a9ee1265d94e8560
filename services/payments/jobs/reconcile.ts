// Resolves open outcomes by asking the processor: operations without an answer, payments whose buyer never returned,
// and abandoned intents. Only a report of the processor moves money.
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { isKnown } from "../connectors/connector.ts";
import { cancelIntent } from "../flows/cancel-intent.ts";
import { confirmIntent } from "../flows/confirm-intent.ts";
import { type CreateIntentDeps, recordMade, renderOf } from "../flows/create-intent.ts";
import { drivePayment } from "../flows/create-payment.ts";
import { driveAcceptanceAgain } from "../flows/disputes/accept-dispute.ts";
import { driveEvidence } from "../flows/disputes/drive-evidence.ts";
import { driveCancel } from "../flows/endings/drive-cancel.ts";
import { driveCapture } from "../flows/endings/drive-capture.ts";
import { searchIntent } from "../flows/make-at-processor.ts";
import { driveRefund } from "../flows/refunds/drive-refund.ts";
import { driveRenewal } from "../flows/renewals/adopt-renewal.ts";
import { refundFunds } from "../flows/unexpected-funds/refund-funds.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { moneyAlertKinds } from "../metrics.ts";
import { isReturned } from "../rules/payment.ts";
import { findEvidence } from "../store/disputes/dispute-evidence.ts";
import { claimOperations, closeOperation, deferOperation, type Operation } from "../store/operations.ts";
import { appendHistory, countParked } from "../store/operator-queue.ts";
import { claimChecks, deferCheck } from "../store/payment-checks.ts";
import { findPayment, type StoredPayment } from "../store/payments.ts";
import { countFindings, recordDifferences, resolveDecided } from "../store/processor/statements.ts";
import { countOpenFunds } from "../store/suspense.ts";

type ReconcileDeps = VerifyDeps & CreateIntentDeps;

// After the first check at RECONCILE_AFTER_SECONDS (30 s): 2 m, 10 m, 1 h, 6 h, then daily for a week, then the
// operator. The unit is RECONCILE_AFTER_SECONDS, which tests shorten.
const operationPauses = [4, 20, 120, 720, ...Array<number>(7).fill(2_880)];
const checkPauses = [4, 20, 120, 720, 2_880];
// At most 10 minutes while an attempt is in progress, because a buyer waits for it.
const inProgressPause = 20;
// The checkout service cancels the intents of its expired sessions. This catches intents without a session.
const orphanPatienceMs = 3_600_000;
const batchMax = 20;
// The slowest bank debit takes 14 days; daily checks report a payment that takes longer.
const processingMaxMs = 14 * 86_400_000;

/** Drives operations with an unknown outcome. @returns true: there may be more */
export async function driveOperations(deps: ReconcileDeps): Promise<boolean> {
  const operations = await claimOperations(deps.db, inSeconds(deps, operationPauses), batchMax);
  if (operations.length > 0) crashPoint("reconcile.1-claimed");
  await Promise.all(operations.map((operation) => attempt(deps, operation.id, () => driveOperation(deps, operation))));
  return operations.length === batchMax;
}

/** Checks payments that are not settled. @returns true: there may be more */
export async function checkPayments(deps: ReconcileDeps): Promise<boolean> {
  const ids = await claimChecks(
    deps.db,
    inSeconds(deps, checkPauses),
    inProgressPause * deps.reconcileAfterSeconds,
    batchMax,
  );
  await Promise.all(ids.map((id) => attempt(deps, id, () => checkPayment(deps, id))));
  return ids.length === batchMax;
}

/** The only job that sends changes to processors. @param wake runs it now */
export function driveOperationsJob(deps: ReconcileDeps, wake: Wake): JobContext {
  return { name: "drive-operations", everyMs: 5_000, runOnce: () => driveOperations(deps), wake };
}

/** Jobs that only ask, or cancel intents, which a processor refuses for a paid one. */
export function reconcileJobs(deps: ReconcileDeps): readonly JobContext[] {
  return [
    { name: "check-payments", everyMs: 5_000, runOnce: () => checkPayments(deps) },
    { name: "count-parked-operations", everyMs: 60_000, runOnce: () => countParkedOperations(deps) },
  ];
}

async function countParkedOperations(deps: ReconcileDeps): Promise<boolean> {
  deps.metrics.parkedOperations.set(Number(await countParked(deps.db)));
  deps.metrics.openFunds.set(Number(await countOpenFunds(deps.db)));
  await resolveDecided(deps.db);
  const open = new Map((await countFindings(deps.db)).map(({ kind, n }) => [kind, n]));
  for (const kind of moneyAlertKinds) deps.metrics.openFindings.set({ kind }, open.get(kind) ?? 0);
  return false;
}

async function driveOperation(deps: ReconcileDeps, operation: Operation): Promise<void> {
  if (operation.state === "parked") {
    deps.metrics.moneyAlerts.inc({ kind: "operation_parked" });
    deps.log.fatal({ alert: "operation_parked", operation_id: operation.id }, "operation parked: outcome unknown");
    return;
  }
  const payment = await findPayment(deps.db, operation.paymentId);
  if (!payment) return;
  if (isDown(deps, payment)) return await deferOperation(deps.db, operation.id, deps.reconcileAfterSeconds);
  await appendHistory(deps.db, operation.id, "asked", await askAbout(deps, operation, payment));
}

/** @returns the answer, for the history */
async function askAbout(deps: ReconcileDeps, operation: Operation, payment: StoredPayment): Promise<string> {
  if (operation.kind === "give_back") return await refundFunds(deps, operation.reference);
  if (operation.kind === "accept_dispute") return await driveAcceptanceAgain(deps, operation.reference);
  if (operation.kind === "submit_evidence") {
    return await driveEvidence(deps, operation.reference, undefined, async (tx) => {
      const evidence = await findEvidence(tx, operation.reference);
      return evidence?.state === "submitted" ? "the evidence is there" : "no answer";
    });
  }
  if (operation.kind === "capture" || operation.kind === "cancel") return await driveEnding(deps, payment, operation);
  if (operation.kind === "create_refund") {
    return await driveRefund(deps, operation.refundId, undefined, async (_tx, _payment, refund) =>
      refund.acknowledged ? `the refund is ${refund.status}` : "no answer",
    );
  }
  if (payment.sessionId === "") return await drivePayment(deps, payment, operation);
  if (operation.kind === "renew_intent") return await driveRenewal(deps, payment, operation);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const found = await searchIntent({ db: deps.db, connector, account, operation }, payment.surface);
  if (isKnown(found)) await recordMade(deps, payment.id, found.value, renderOf(account, found.value));
  // A retry of the request creates the intent under a new key; otherwise the payment's check cancels it when it
  // expires.
  if (found.kind === "never_made") await closeOperation(deps.db, "create_intent", payment.id);
  return found.kind === "unknown" ? `unknown: ${found.cause}` : found.kind;
}

/** Closes an operation that a report of the processor has made unnecessary, else drives it. */
async function driveEnding(deps: ReconcileDeps, payment: StoredPayment, operation: Operation): Promise<string> {
  const { kind } = operation;
  const { outcome, capturedAmount } = payment.state;
  if (outcome === "canceled" || capturedAmount > 0n) {
    await closeOperation(deps.db, kind, payment.id);
    return `the payment is ${payment.status}`;
  }
  const record = async (_tx: Tx, { status }: StoredPayment) => status;
  const driven = await (kind === "capture" ? driveCapture : driveCancel)(deps, payment, operation, record);
  return driven.kind === "refused"
    ? `refused: ${driven.failure.reason}`
    : `${driven.kind}: the payment is ${driven.value}`;
}

async function checkPayment(deps: ReconcileDeps, paymentId: string): Promise<void> {
  const payment = await findPayment(deps.db, paymentId);
  if (!payment) return;
  if (isDown(deps, payment)) return await deferCheck(deps.db, paymentId, deps.reconcileAfterSeconds);
  const orphan = payment.expiresAt.getTime() + orphanPatienceMs < clockMs();
  const isOrphan = orphan && payment.state.outcome !== "succeeded" && !isReturned(payment.state);
  const after = await (isOrphan ? cancelIntent(deps, paymentId) : confirmIntent(deps, paymentId, "reconcile"));
  const { outcome, lastAttemptAt } = after.state;
  if (outcome !== "processing" || !lastAttemptAt || lastAttemptAt.getTime() + processingMaxMs > clockMs()) return;
  deps.metrics.moneyAlerts.inc({ kind: "processing_too_long" });
  deps.log.error({ alert: "processing_too_long", payment_id: paymentId }, "payment processing for 14 days");
  const about = { object: "payment", ref: paymentId, paymentId } as const;
  const found = { ...about, kind: "processing_too_long", ours: "", theirs: after.connectorRef } as const;
  await recordDifferences(deps.db, after.connectorAccountId, [found]);
}

/** While the account's circuit is open its payments wait, so that an outage does not use up the schedule. */
function isDown(deps: ReconcileDeps, payment: StoredPayment): boolean {
  return deps.connectors.isDown({ id: payment.connectorAccountId });
}

function inSeconds(deps: ReconcileDeps, pauses: readonly number[]): number[] {
  return pauses.map((pause) => pause * deps.reconcileAfterSeconds);
}

/** A failure must not stop the other items of the batch; the item is retried by its schedule. */
async function attempt(deps: ReconcileDeps, id: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log.warn({ err: error, id }, "reconcile failed; retrying");
  }
}
