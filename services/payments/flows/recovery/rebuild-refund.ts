// Rebuilds a refund that a restored database lost. Phases, each safe to rerun: 1 rebuild or verify its payment, which
// imports every refund that its processor has · 2 restore its idempotency key. Sends nothing: a refund that no
// processor has is made only by a repeat of its request.
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import type { Id } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { findRefund } from "../../store/refunds/refunds.ts";
import { type RebuildDeps, rebuildPayment, unknownOrder } from "./rebuild-payment.ts";
import { restoreKey } from "./sealed-key.ts";

export interface RebuildRefundDeps extends RebuildDeps {
  readonly keys: Pick<IdempotencyKeys, "restore">;
}

export interface RebuiltRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly outcome: RebuildOutcome;
  /** Empty: there is no refund. */
  readonly status: string;
}

/** @param event `refund.requested` */
export async function rebuildRefund(
  deps: RebuildRefundDeps,
  refundId: Id<"refund">,
  paymentId: Id<"payment">,
  event: Event,
): Promise<RebuiltRefund> {
  const { merchantId, environment } = event;
  try {
    const isKnown = (await findRefund(deps.db, refundId)) !== undefined;
    await rebuildPayment(deps, { ...unknownOrder, id: paymentId, merchantId, environment, sessionId: "" });
    const wasKeyLost = await restoreKey(deps, event);
    const refund = await findRefund(deps.db, refundId);
    if (!refund) return { refundId, paymentId, outcome: RebuildOutcome.NOT_FOUND, status: "" };
    const outcome = isKnown && !wasKeyLost ? RebuildOutcome.KNOWN : RebuildOutcome.REBUILT;
    return { refundId, paymentId, outcome, status: refund.status };
  } catch (error) {
    deps.log.warn({ err: error, refund_id: refundId }, "a lost refund could not be rebuilt");
    return { refundId, paymentId, outcome: RebuildOutcome.FAILED, status: "" };
  }
}
