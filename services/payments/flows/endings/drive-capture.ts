// Brings a reserved capture forward, for the request that reserved it and for the reconcile job. Phases: 1 capture at
// the processor, once; if it refused, ask about the intent · 2 settle in one transaction. Any end of the authorization
// also ends the capture (settle-payment.ts).
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import { type IntentReport, isKnown } from "../../connectors/connector.ts";
import { isAuthorized } from "../../rules/payment.ts";
import { closeOperation, lockUntouched, type Operation } from "../../store/operations.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { type CommandResult, makeCapture } from "../make-at-processor.ts";
import { logSettlement } from "../record-findings.ts";
import { lockBooks, settlePayment } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

/** `pending`: the outcome is not known yet. */
export type DriveResult<T> =
  | { readonly kind: "ended" | "pending"; readonly value: T }
  | { readonly kind: "refused"; readonly failure: Failure };

/** Stores and returns the answer; runs in the settling transaction. */
export type RecordEnding<T> = (tx: Tx, payment: StoredPayment) => Promise<T>;

export async function driveCapture<T>(
  deps: VerifyDeps,
  payment: StoredPayment,
  operation: Operation,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const order = { intentRef: payment.connectorRef, amount: operation.amount, currency: payment.currency };
  const made = await makeCapture({ db: deps.db, connector, account, operation }, order);
  crashPoint("capture-payment.3-made");
  if (made.kind === "not_sent" || made.kind === "never_made") {
    return await endUnsent(deps, payment, operation, made, record);
  }
  const answer = made.kind === "declined" ? await connector.retrieveIntent(account, payment.connectorRef) : made;
  if (!isKnown(answer)) return await deferEnding(deps, payment, record);
  const { settled, driven } = await deps.db.transaction(async (tx) => {
    const found = await settlePayment(tx, deps, payment.id, answer.value, "reconcile", payment.version);
    return { settled: found, driven: await concludeCapture(tx, found.payment, operation, made, record) };
  });
  crashPoint("capture-payment.4-settled");
  deps.outbox.wake();
  logSettlement(deps, settled);
  return driven;
}

/** @param payment after its settlement. @param made the answer to the capture itself */
async function concludeCapture<T>(
  tx: Tx,
  payment: StoredPayment,
  operation: Operation,
  made: CommandResult<IntentReport>,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  // A capture of another amount, from any source, is not the requested one.
  const isAsRequested = payment.state.outcome === "succeeded" && payment.state.capturedAmount === operation.amount;
  if (isAsRequested) return { kind: "ended", value: await record(tx, payment) };
  const isPending = isAuthorized(payment.state) && made.kind !== "declined";
  if (isPending) return { kind: "pending", value: await record(tx, payment) };
  await closeOperation(tx, "capture", payment.id);
  const isTooLarge = isAuthorized(payment.state) && made.kind === "declined" && made.code === "amount_too_large";
  return { kind: "refused", failure: new Failure(isTooLarge ? "AMOUNT_TOO_LARGE" : "NOT_CAPTURABLE") };
}

/** The reconcile job continues. */
export async function deferEnding<T>(
  deps: VerifyDeps,
  payment: StoredPayment,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  return { kind: "pending", value: await deps.db.transaction((tx) => record(tx, payment)) };
}

/** Ends a command that was not carried out. An unsent try proves that only if no other run has tried meanwhile. */
export async function endUnsent<T>(
  deps: VerifyDeps,
  payment: StoredPayment,
  operation: Operation,
  made: Extract<CommandResult<IntentReport>, { kind: "not_sent" | "never_made" }>,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  return await deps.db.transaction(async (tx): Promise<DriveResult<T>> => {
    const locked = await lockBooks(tx, payment.id);
    const isSure = made.kind === "never_made" || (await lockUntouched(tx, operation.id));
    if (!isSure) return { kind: "pending", value: await record(tx, locked.payment) };
    await closeOperation(tx, operation.kind, payment.id);
    return { kind: "refused", failure: new Failure("CONNECTOR_ERROR", { cause: made.cause }) };
  });
}
