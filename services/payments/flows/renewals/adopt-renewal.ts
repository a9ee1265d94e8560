// Records a renewed intent for the buyer's request, the reconcile job or a cancellation, which then cancels it. Phases:
// 1 find it at the processor · 2 record it, in one statement · 3 cancel it if the payment has ended meanwhile.
import { type CreatedIntent, isKnown } from "../../connectors/connector.ts";
import { closeOperation, type Operation } from "../../store/operations.ts";
import { findPayment, recordRenewal, type StoredPayment } from "../../store/payments.ts";
import { renewalOf } from "../../store/renewals.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { type CreateIntentDeps, renderOf, sealRender } from "../create-intent.ts";
import { searchIntent } from "../make-at-processor.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export type RenewDeps = CreateIntentDeps & VerifyDeps;

/** Phases 2 and 3: two intents must never both be payable. @throws Failure CONNECTOR_ERROR: it was not canceled. */
export async function adoptRenewal(
  deps: Pick<RenewDeps, "db" | "vault" | "accounts" | "connectors">,
  payment: StoredPayment,
  operation: Operation,
  intent: CreatedIntent,
): Promise<void> {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const render = sealRender(deps.vault, payment.id, renderOf(account, intent));
  const { ref: connectorRef } = intent.report;
  if (await recordRenewal(deps.db, { id: payment.id, renewal: renewalOf(operation), connectorRef }, render)) return;
  const after = await findPayment(deps.db, payment.id);
  if (after?.connectorRef !== connectorRef) {
    const answer = await deps.connectors.get(payment.connector).cancelIntent(account, connectorRef, "release");
    // Declined: it has ended, or is paid, which its events report.
    if (answer.kind !== "declined") provenValue(answer);
  }
  await closeOperation(deps.db, "renew_intent", operation.reference);
}

/** Completes a renewal in doubt. If it was never made, the buyer's next request makes it. @returns for the history. */
export async function driveRenewal(deps: RenewDeps, payment: StoredPayment, operation: Operation): Promise<string> {
  const found = await findRenewalIntent(deps, payment, operation);
  if (isKnown(found)) await adoptRenewal(deps, payment, operation, found.value);
  if (found.kind === "never_made") await closeOperation(deps.db, "renew_intent", operation.reference);
  return found.kind === "unknown" ? `unknown: ${found.cause}` : found.kind;
}

/**
 * Records an unrecorded renewal before a cancellation, without its render. @returns the payment after it
 * @throws Failure CONNECTOR_ERROR while it may still be made.
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
  return await searchIntent({ db: deps.db, connector, account, operation }, payment.surface);
}
