// Verifies an intent, and ends it if it must not be paid: its merchant is not active, or its connector does not serve
// its environment. Phases: 1 verify, which settles a paid intent · 2 cancel an unpaid one.
import type { Event } from "#proto/events/v1/events_pb.ts";
import { isUnpaid, type Path } from "../rules/payment.ts";
import { makeChecksDue } from "../store/payment-checks.ts";
import type { StoredPayment } from "../store/payments.ts";
import { cancelIntent } from "./cancel-intent.ts";
import { type VerifyDeps, verifyIntent } from "./verify-intent.ts";

/**
 * @param redirectResult see verifyIntent
 * @throws Failure NOT_FOUND, CONNECTOR_ERROR (not verified, or the intent differs).
 */
export async function confirmIntent(
  deps: VerifyDeps,
  paymentId: string,
  path: Path,
  redirectResult = "",
): Promise<StoredPayment> {
  const payment = await verifyIntent(deps, paymentId, path, false, redirectResult);
  if (payment.connectorRef === "" || !isUnpaid(payment.state)) return payment;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const mayBePaid = account.merchantStatus === "active" && deps.connectors.serves(account);
  return mayBePaid ? payment : await cancelIntent(deps, paymentId);
}

/**
 * Schedules an immediate check of a deactivated merchant's unpaid intents, since buyers may have their forms open. If
 * the event is lost, each ends at its next check or its buyer's confirm.
 */
export async function endUnpaid(deps: Pick<VerifyDeps, "db" | "log">, event: Event): Promise<void> {
  if (event.type !== "merchant.updated" || event.status === "active") return;
  try {
    await makeChecksDue(deps.db, event.merchantId || event.objectId);
  } catch (error) {
    deps.log.warn(
      { err: error, merchant_id: event.objectId },
      "immediate checks not scheduled: unpaid intents wait for their next check",
    );
  }
}
