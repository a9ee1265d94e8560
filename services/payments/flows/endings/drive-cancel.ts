// Brings a reserved cancellation forward, for the request that reserved it and for the reconcile job: releases an
// authorization, or cancels an unpaid intent. Phases: 1 find an intent or renewal that was not recorded · 2 cancel at
// the processor, which may be repeated; if it refused, ask about the intent · 3 settle in one transaction.
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import { isKnown } from "../../connectors/connector.ts";
import { closeOperation, type Operation } from "../../store/operations.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { findOpenRenewal } from "../../store/renewals.ts";
import { endUnmadePayment, findUnrecordedRef, settleCancellation } from "../cancel-intent.ts";
import { logSettlement } from "../record-findings.ts";
import { endRenewal } from "../renewals/adopt-renewal.ts";
import type { VerifyDeps } from "../verify-intent.ts";
import { type DriveResult, deferEnding, endUnsent, type RecordEnding } from "./drive-capture.ts";

export async function driveCancel<T>(
  deps: VerifyDeps,
  payment: StoredPayment,
  operation: Operation,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  const ref = await resolveRef(deps, payment);
  if (ref === "unknown") return await deferEnding(deps, payment, record);
  if (ref === undefined) return await endUnmade(deps, payment, record);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const made = await connector.cancelIntent(account, ref, "release");
  crashPoint("cancel-payment.3-canceled");
  if (made.kind === "not_sent") return await endUnsent(deps, payment, operation, made, record);
  const answer = made.kind === "declined" ? await connector.retrieveIntent(account, ref) : made;
  if (!isKnown(answer)) return await deferEnding(deps, payment, record);
  const { settled, driven } = await deps.db.transaction(async (tx) => {
    const found = await settleCancellation(tx, deps, payment.id, ref, answer.value);
    // The intent is being renewed: the next try cancels its successor.
    if (!found) return { settled: undefined, driven: { kind: "pending", value: await record(tx, payment) } as const };
    return { settled: found, driven: await concludeCancel(tx, found.payment, made.kind === "declined", record) };
  });
  crashPoint("cancel-payment.4-settled");
  deps.outbox.wake();
  if (settled) logSettlement(deps, settled);
  return driven;
}

/** @param payment after its settlement */
async function concludeCancel<T>(
  tx: Tx,
  payment: StoredPayment,
  isDeclined: boolean,
  record: RecordEnding<T>,
): Promise<DriveResult<T>> {
  const isCanceled = payment.state.outcome === "canceled";
  if (isCanceled || isDeclined) await closeOperation(tx, "cancel", payment.id);
  if (isDeclined && !isCanceled) return { kind: "refused", failure: new Failure("NOT_CANCELABLE") };
  return { kind: isCanceled ? "ended" : "pending", value: await record(tx, payment) };
}

/** Id of the intent to cancel, also of an unrecorded renewal; undefined: provably none exists. */
async function resolveRef(deps: VerifyDeps, read: StoredPayment): Promise<string | "unknown" | undefined> {
  try {
    const renewal = await findOpenRenewal(deps.db, read.id);
    const payment = renewal ? await endRenewal(deps, read, renewal) : read;
    return payment.connectorRef || (await findUnrecordedRef(deps, payment));
  } catch (error) {
    if (error instanceof Failure && error.reason === "CONNECTOR_ERROR") return "unknown";
    throw error;
  }
}

async function endUnmade<T>(deps: VerifyDeps, { id }: StoredPayment, record: RecordEnding<T>): Promise<DriveResult<T>> {
  const driven = await deps.db.transaction(async (tx): Promise<DriveResult<T>> => {
    const payment = await endUnmadePayment(tx, deps, id);
    // Its intent was recorded meanwhile.
    if (payment.connectorRef !== "") return { kind: "pending", value: await record(tx, payment) };
    await closeOperation(tx, "cancel", id);
    return { kind: "ended", value: await record(tx, payment) };
  });
  deps.outbox.wake();
  return driven;
}
