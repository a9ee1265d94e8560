// Replaces a payment's intent in the transaction that settles a report: by a renewal that was paid, or, after a
// decline, by an intent at the next account, once the processor has reported the end of the declined one.
import type { Tx } from "#platform/database/database.ts";
import type { IntentReport } from "../../connectors/connector.ts";
import { isUnpaid } from "../../rules/payment.ts";
import { recordRenewal, type StoredPayment } from "../../store/payments.ts";
import { finishReroute, stopReroute } from "../../store/reroutes.ts";

/**
 * Records a renewed intent that was paid while the answer to its creation was lost. An unpaid one is recorded with its
 * render by adopt-renewal.ts. @returns false: the report is about no such intent
 */
export async function recordPaidRenewal(
  tx: Tx,
  { id, renewals, render }: StoredPayment,
  { ref: connectorRef, reference, renewal, facts }: IntentReport,
): Promise<boolean> {
  if (reference !== id || renewal !== renewals + 1) return false;
  if (!facts.some(({ kind }) => kind === "attempt_succeeded")) return false;
  return await recordRenewal(tx, { id, renewal, connectorRef }, render);
}

/** The report without the end of a declined intent, since its payment moves. @returns undefined: no such end */
export function reportBeforeMove({ rerouteTo }: StoredPayment, report: IntentReport): IntentReport | undefined {
  const isOver = report.pageEndedAt !== undefined || report.facts.some(({ kind }) => kind === "intent_canceled");
  if (!rerouteTo || !isOver) return undefined;
  return { ...report, facts: report.facts.filter(({ kind }) => kind !== "intent_canceled") };
}

/** @param payment after its last report. @returns false: it was paid meanwhile, and stays at its account */
export async function movePayment(tx: Tx, payment: StoredPayment, tryAfterSeconds: number): Promise<boolean> {
  const { id, rerouteTo, state } = payment;
  const mayMove = rerouteTo !== undefined && isUnpaid(state);
  if (mayMove) await finishReroute(tx, id, rerouteTo, tryAfterSeconds);
  else await stopReroute(tx, id);
  return mayMove;
}

/** The former account as the owner of a report about it. */
export function atFormerAccount(payment: StoredPayment): StoredPayment {
  return { ...payment, connector: payment.formerConnector, connectorAccountId: payment.formerAccountId };
}
