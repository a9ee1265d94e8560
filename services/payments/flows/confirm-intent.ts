// What became of an intent, and its end where nobody may pay it any more: its merchant is suspended or closed, or its
// connector does not serve its environment. Phases: 1 verify, which takes in what is paid · 2 cancel what is not; the
// processor decides which of both it is.
import type { Event } from "#proto/events/v1/events_pb.ts";
import { isUnpaid, type Path } from "../rules/payment.ts";
import { makeChecksDue } from "../store/payment-checks.ts";
import type { StoredPayment } from "../store/payments.ts";
import { cancelIntent } from "./cancel-intent.ts";
import { type VerifyDeps, verifyIntent } from "./verify-intent.ts";

/** @throws Failure NOT_FOUND, CONNECTOR_ERROR (not verified, or the intent differs). */
export async function confirmIntent(deps: VerifyDeps, paymentId: string, path: Path): Promise<StoredPayment> {
  const payment = await verifyIntent(deps, paymentId, path);
  if (payment.connectorRef === "" || !isUnpaid(payment.state)) return payment;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const mayBePaid = account.merchantStatus === "active" && deps.connectors.serves(account);
  return mayBePaid ? payment : await cancelIntent(deps, paymentId);
}

/**
 * A merchant takes no new money from now on: the reconcile job looks at its unpaid intents at once, since buyers may
 * have their forms open. Where the event is not heard, each ends at its next check or its buyer's confirm.
 */
export async function endUnpaid(deps: Pick<VerifyDeps, "db" | "log">, event: Event): Promise<void> {
  if (event.type !== "merchant.updated" || event.status === "active") return;
  try {
    await makeChecksDue(deps.db, event.merchantId || event.objectId);
  } catch (error) {
    deps.log.warn(
      { err: error, merchant_id: event.objectId },
      "unpaid intents of a merchant are left to their next checks",
    );
  }
}
