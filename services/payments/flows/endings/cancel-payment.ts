// Cancels an uncaptured payment. Phases, each one transaction or one network call, each safe to rerun: 1 claim the
// idempotency key · 2 reserve (reserve-ending.ts) · 3 cancel at the processor · 4 settle and store the answer
// (drive-cancel.ts). The processor decides between the cancellation and a concurrent payment.
import { create } from "@bufbuild/protobuf";
import type { Tx } from "#platform/database/database.ts";
import { withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { newId } from "#platform/values/id.ts";
import { type CancelPaymentResponse, CancelPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { requireOwnPayment } from "../restore-archived.ts";
import { type EndingRequest, type KeyedEndingDeps, readPublicPayment, requireEnded } from "./capture-payment.ts";
import { driveCancel } from "./drive-cancel.ts";
import { reserveEnding } from "./reserve-ending.ts";

/** @throws Failure NOT_FOUND, NOT_CANCELABLE, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function cancelPayment(deps: KeyedEndingDeps, request: EndingRequest): Promise<CancelPaymentResponse> {
  const { paymentId, idempotency } = request;
  return await withIdempotency(
    deps.keys,
    CancelPaymentResponseSchema,
    idempotency,
    newId("operation"),
    async ({ id, isResumed, finish }) => {
      crashPoint("cancel-payment.1-claimed");
      await requireOwnPayment(deps, request, paymentId);
      const wanted = { id, kind: "cancel" as const, amount: undefined, idempotency, isResumed };
      const { payment, operation } = await reserveEnding(deps, paymentId, wanted);
      crashPoint("cancel-payment.2-reserved");
      const record = async (tx: Tx) => {
        const response = create(CancelPaymentResponseSchema, { payment: await readPublicPayment(tx, deps, payment) });
        await finish?.(tx, response);
        return response;
      };
      if (!operation) return await deps.db.transaction(record);
      return requireEnded(await driveCancel(deps, payment, operation, record));
    },
  );
}
