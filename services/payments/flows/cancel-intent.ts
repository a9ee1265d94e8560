// Cancels an intent that is not paid. The processor decides: an intent that was paid or is being paid is settled instead, so
// that an expiring session never loses money. Phases: 1 read · 2 cancel at the processor · 3 settle in one transaction.
import { crashPoint } from "#platform/crash-point.ts";
import { Failure } from "#platform/failure.ts";
import { closeOperation } from "../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment, savePayment } from "../store/payments.ts";
import { provenValue } from "./ask-processor.ts";
import { settleReport, type VerifyDeps, verifyIntent } from "./verify-intent.ts";

/** @throws Failure NOT_FOUND, CONNECTOR_ERROR. */
export async function cancelIntent(deps: VerifyDeps, paymentId: string): Promise<StoredPayment> {
  const payment = await findPayment(deps.db, paymentId);
  if (!payment) throw new Failure("NOT_FOUND");
  const { outcome } = payment.state;
  if (outcome === "succeeded" || outcome === "canceled") return payment;
  const connector = deps.connectors.get(payment.connector);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  crashPoint("cancel-intent.1-read");
  let ref = payment.connectorRef;
  if (ref === "") {
    const found = await connector.findIntent(account, { reference: payment.id, surface: payment.surface });
    if (found.kind === "not_found") return await cancelUnmade(deps, paymentId);
    ref = provenValue(found).report.ref;
  }
  const answer = await connector.cancelIntent(account, ref);
  crashPoint("cancel-intent.2-canceled");
  if (answer.kind === "declined") return await verifyIntent(deps, paymentId, "reconcile");
  const settled = await settleReport(deps, paymentId, provenValue(answer), "reconcile");
  crashPoint("cancel-intent.3-settled");
  return settled;
}

/** The processor has no intent under our reference, so there is nothing to cancel there. */
async function cancelUnmade(deps: VerifyDeps, paymentId: string): Promise<StoredPayment> {
  return await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, paymentId);
    if (!locked) throw new Failure("NOT_FOUND");
    const { payment } = locked;
    if (payment.connectorRef !== "" || payment.state.outcome !== "pending") return payment;
    const state = { ...payment.state, outcome: "canceled" as const };
    await savePayment(tx, { id: payment.id, connectorRef: "", state, checkAfterSeconds: undefined }, []);
    await closeOperation(tx, "create_intent", payment.id);
    return { ...payment, state, status: "canceled" as const };
  });
}
