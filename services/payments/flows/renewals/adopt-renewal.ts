// Takes in an intent that was made in the place of one whose page ended, whoever finds it: the buyer's own request, the
// reconcile job, or a cancellation, for which it is then the one to cancel. Phases: 1 look for it · 2 record it, in one
// statement · 3 cancel one that came too late.
import { type CreatedIntent, isKnown } from "../../connectors/connector.ts";
import { closeOperation, type Operation } from "../../store/operations.ts";
import { findPayment, recordRenewal, type StoredPayment } from "../../store/payments.ts";
import { renewalOf } from "../../store/renewals.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { type CreateIntentDeps, renderOf, sealedRender } from "../create-intent.ts";
import { searchIntent } from "../make-at-processor.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export type RenewDeps = CreateIntentDeps & VerifyDeps;

/**
 * Phases 2 and 3. One that comes too late, when the payment has ended without it, is canceled: never can two be paid.
 * @throws Failure CONNECTOR_ERROR: it could not be canceled.
 */
export async function adoptRenewal(
  deps: Pick<RenewDeps, "db" | "vault" | "accounts" | "connectors">,
  payment: StoredPayment,
  operation: Operation,
  intent: CreatedIntent,
): Promise<void> {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const render = sealedRender(deps.vault, payment.id, renderOf(account, intent));
  const { ref: connectorRef } = intent.report;
  if (await recordRenewal(deps.db, { id: payment.id, renewal: renewalOf(operation), connectorRef }, render)) return;
  const after = await findPayment(deps.db, payment.id);
  if (after?.connectorRef !== connectorRef) {
    const answer = await deps.connectors.get(payment.connector).cancelIntent(account, connectorRef, "release");
    // Declined: it has ended by itself, or is paid, which its events tell.
    if (answer.kind !== "declined") provenValue(answer);
  }
  await closeOperation(deps.db, "renew_intent", operation.reference);
}

/**
 * A renewal whose answer got lost; one that the processor has not is made anew when the buyer comes again.
 * @returns what was answered, for the history
 */
export async function driveRenewal(deps: RenewDeps, payment: StoredPayment, operation: Operation): Promise<string> {
  const found = await findRenewalIntent(deps, payment, operation);
  if (isKnown(found)) await adoptRenewal(deps, payment, operation, found.value);
  if (found.kind === "never_made") await closeOperation(deps.db, "renew_intent", operation.reference);
  return found.kind === "unknown" ? `unknown: ${found.cause}` : found.kind;
}

/**
 * Takes in a renewal that nobody recorded, so that its intent is the one to cancel. What the buyer's browser would need
 * of it stays unknown: nobody is to pay.
 * @returns the payment after it
 * @throws Failure CONNECTOR_ERROR while it may still come to be.
 */
export async function endRenewal(
  deps: VerifyDeps,
  payment: StoredPayment,
  operation: Operation,
): Promise<StoredPayment> {
  const found = await findRenewalIntent(deps, payment, operation);
  if (found.kind === "never_made") await closeOperation(deps.db, "renew_intent", operation.reference);
  else {
    const renewal = { id: payment.id, renewal: renewalOf(operation), connectorRef: provenValue(found).report.ref };
    await recordRenewal(deps.db, renewal, payment.render);
  }
  return (await findPayment(deps.db, payment.id)) ?? payment;
}

async function findRenewalIntent(deps: VerifyDeps, payment: StoredPayment, operation: Operation) {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  return await searchIntent(deps.db, connector, account, payment.surface, operation);
}
