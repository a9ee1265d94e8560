// Takes in again a refund that was asked for and that a restored database lost. Phases, each safe to run again: 1 its
// payment is rebuilt or asked about, which brings every refund that its processor has · 2 its idempotency key stands
// for it. Nothing is sent: one that no processor has is made by a repeat with its key alone.
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import type { Id } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { findRefund } from "../../store/refunds/refunds.ts";
import { type RebuildDeps, rebuildPayment, unknownOrder } from "./rebuild-payment.ts";
import { openKey } from "./sealed-key.ts";

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
  { merchantId, environment, attributes }: Event,
): Promise<RebuiltRefund> {
  try {
    let isLost = (await findRefund(deps.db, refundId)) === undefined;
    await rebuildPayment(deps, { ...unknownOrder, id: paymentId, merchantId, environment, sessionId: "" });
    if (attributes.image) {
      const sealed = openKey(deps.vault, refundId, attributes.image);
      const scope = { merchantId, environment, operation: "refund_payment", ...sealed };
      const wasKeyLost = await deps.keys.restore(deps.db, scope, refundId);
      isLost ||= wasKeyLost;
    }
    const refund = await findRefund(deps.db, refundId);
    if (!refund) return { refundId, paymentId, outcome: RebuildOutcome.NOT_FOUND, status: "" };
    return {
      refundId,
      paymentId,
      outcome: isLost ? RebuildOutcome.REBUILT : RebuildOutcome.KNOWN,
      status: refund.status,
    };
  } catch (error) {
    deps.log.warn({ err: error, refund_id: refundId }, "a lost refund could not be rebuilt");
    return { refundId, paymentId, outcome: RebuildOutcome.FAILED, status: "" };
  }
}
