// Refunds a payment. Phases, each one transaction or one network call, each safe to run again: 1 claim the idempotency
// key · 2 reserve the amount (reserve-refund.ts) · 3 ask the processor · 4 settle and store the answer
// (drive-refund.ts). No answer is not a failure: the refund stays pending, is answered as such, and the reconcile job
// brings it to its end.
import { create } from "@bufbuild/protobuf";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type RefundPaymentResponse, RefundPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { toRefund } from "../../messages.ts";
import { findOwnPayment } from "../../store/payments.ts";
import { sealKey } from "../recovery/sealed-key.ts";
import { type DriveDeps, driveRefund } from "./drive-refund.ts";
import { reserveRefund } from "./reserve-refund.ts";

export interface RefundDeps extends DriveDeps {
  readonly keys: IdempotencyKeys;
  /** Seals the key that travels with the event. */
  readonly vault: Vault;
}

export interface RefundRequest {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  /** Minor units; undefined: all that is left. */
  readonly amount: bigint | undefined;
  /** Of the payment in all; absent: all of it. */
  readonly refundedAtMost?: bigint | undefined;
  readonly reason: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, NOT_REFUNDABLE, AMOUNT_TOO_LARGE, FEATURE_DISABLED, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function refundPayment(deps: RefundDeps, request: RefundRequest): Promise<RefundPaymentResponse> {
  const { amount, refundedAtMost, reason, idempotency } = request;
  return await withIdempotency(
    deps.keys,
    RefundPaymentResponseSchema,
    idempotency,
    newId("refund"),
    async ({ id, isResumed, finish }) => {
      crashPoint("refund-payment.1-claimed");
      const payment = await findOwnPayment(deps.db, request, request.paymentId);
      if (!payment) throw new Failure("NOT_FOUND");
      const image = idempotency && sealKey(deps.vault, id, idempotency);
      const fresh = await reserveRefund(deps, payment, { id, amount, refundedAtMost, reason, image }, isResumed);
      crashPoint("refund-payment.2-reserved");
      return await driveRefund(deps, id, fresh, async (tx, settled, stored) => {
        const refund = toRefund(stored);
        const response = create(RefundPaymentResponseSchema, {
          refund,
          paymentStatus: settled.status,
          replayed: false,
        });
        await finish?.(tx, response);
        return response;
      });
    },
  );
}
