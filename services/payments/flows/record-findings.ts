// Findings of a settlement: each is stored open in its transaction, and an alert follows the commit.
import type { Tx } from "#platform/database/database.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import type { Difference, FindingKind } from "../rules/statement.ts";
import type { FundsKind } from "../rules/unexpected-funds.ts";
import type { StoredPayment } from "../store/payments.ts";
import { recordDifferences } from "../store/processor/statements.ts";

export interface SettlementFindings {
  /** The processor captured another amount than we asked for. */
  readonly isOtherCapture?: boolean;
  /** Our intent carries the reference of another payment, or none. */
  readonly isRenamed?: boolean;
  /** The field in which an intent differs from the order; such an intent never finalizes the payment. */
  readonly mismatch: string | undefined;
  /** Kinds of unexpected funds whose rows the report opened. */
  readonly opened: readonly FundsKind[];
  readonly payment: StoredPayment;
}

/** Each stays open until an operator explains it. */
export async function recordFindings(
  tx: Tx,
  { payment, mismatch, isOtherCapture, isRenamed }: Omit<SettlementFindings, "opened">,
): Promise<void> {
  const difference = mismatch ?? (isRenamed ? "reference" : undefined);
  const finding = (kind: FindingKind, theirs: string): Difference => {
    return { object: "payment", ref: payment.id, paymentId: payment.id, kind, ours: "", theirs };
  };
  const found = [
    ...(isOtherCapture ? [finding("other_capture", String(payment.state.capturedAmount))] : []),
    ...(difference === undefined ? [] : [finding("intent_mismatch", difference)]),
  ];
  await recordDifferences(tx, payment.connectorAccountId, found);
}

/** Alerts after the commit: money may have moved on an intent that is not ours, or twice. */
export function logSettlement(
  { log, metrics: { moneyAlerts } }: { readonly log: Log; readonly metrics: PaymentsMetrics },
  { payment, opened, mismatch, isOtherCapture, isRenamed }: SettlementFindings,
): void {
  const alert = (kind: string, message: string, fields = {}) => {
    moneyAlerts.inc({ kind });
    log.fatal({ alert: kind, payment_id: payment.id, ...fields }, message);
  };
  if (isOtherCapture) alert("other_capture", "the processor captured another amount than asked for");
  const difference = mismatch ?? (isRenamed ? "reference" : undefined);
  if (difference !== undefined) {
    alert("intent_mismatch", "intent differs from payment", { err: mismatchError(difference) });
  }
  for (const kind of opened) alert(kind, "unexpected funds: see the operators' list");
}

/** Cause of a failure about an intent that is in the operators' list: another query would bring the same answer. */
export class ListedIntentError extends Error {}

export function mismatchError(field: string): Error {
  return new ListedIntentError(`the processor's intent differs from the payment in its ${field}`);
}
