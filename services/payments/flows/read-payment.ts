// Reads a payment for its merchant. An overdue one is verified at the processor first: a lost webhook must not show a
// stale status.
import type { ReadRepair } from "#platform/service/read-repair.ts";
import { clockMs } from "#platform/values/clock.ts";
import { findRecord, type Owner, type PaymentRecord } from "../store/payment-records.ts";
import { requireRecord } from "./restore-archived.ts";
import { type VerifyDeps, verifyIntent } from "./verify-intent.ts";

export interface ReadDeps extends VerifyDeps {
  readonly readRepair: ReadRepair;
}

/** @throws Failure NOT_FOUND. */
export async function readPayment(deps: ReadDeps, owner: Owner, paymentId: string): Promise<PaymentRecord> {
  const record = await requireRecord(deps, owner, paymentId);
  if (record.archived) return record;
  const since = new Date(clockMs() - deps.reconcileAfterSeconds * 1_000);
  if (!isStale(record, since)) return record;
  const settled = await deps.readRepair.refresh(record.id, () => verifyIntent(deps, record.id, "reconcile"));
  return (settled && (await findRecord(deps.db, owner, paymentId))) || record;
}

/** True if the payment, its authorization or one of its refunds is older than `since` and has not ended. */
function isStale(record: PaymentRecord, since: Date): boolean {
  const isInProgress =
    record.status === "processing" || record.status === "requires_action" || record.status === "pending";
  if (isInProgress && record.createdAt < since) return true;
  if (record.captureBefore !== undefined && record.captureBefore < since) return true;
  return record.refunds.some((refund) => refund.status === "pending" && refund.createdAt < since);
}
