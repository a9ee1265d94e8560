// Captures an authorized payment, or a part, which releases the rest. Phases, each one transaction or one network call,
// each safe to rerun: 1 claim the idempotency key · 2 reserve (reserve-ending.ts) · 3 capture at the processor ·
// 4 settle and store the answer (drive-capture.ts). Without an answer the payment is returned as it is, and the
// reconcile job completes the capture.
import { create } from "@bufbuild/protobuf";
import type { Tx } from "#platform/database/database.ts";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type CapturePaymentResponse, CapturePaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { toPayment } from "../../messages.ts";
import { findRecord } from "../../store/payment-records.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { requireOwnPayment } from "../restore-archived.ts";
import { type DriveResult, driveCapture } from "./drive-capture.ts";
import { type EndingDeps, reserveEnding } from "./reserve-ending.ts";

export interface KeyedEndingDeps extends EndingDeps {
  readonly keys: IdempotencyKeys;
}

export interface EndingRequest {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, NOT_CAPTURABLE, AMOUNT_TOO_LARGE, INVALID_BODY, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function capturePayment(
  deps: KeyedEndingDeps,
  request: EndingRequest & { readonly amount: bigint | undefined },
): Promise<CapturePaymentResponse> {
  const { paymentId, amount, idempotency } = request;
  return await withIdempotency(
    deps.keys,
    CapturePaymentResponseSchema,
    idempotency,
    newId("operation"),
    async ({ id, isResumed, finish }) => {
      crashPoint("capture-payment.1-claimed");
      await requireOwnPayment(deps, request, paymentId);
      const wanted = { id, kind: "capture" as const, amount, idempotency, isResumed };
      const { payment, operation } = await reserveEnding(deps, paymentId, wanted);
      crashPoint("capture-payment.2-reserved");
      const record = async (tx: Tx) => {
        const response = create(CapturePaymentResponseSchema, { payment: await readPublicPayment(tx, deps, payment) });
        await finish?.(tx, response);
        return response;
      };
      if (!operation) return await deps.db.transaction(record);
      return requireEnded(await driveCapture(deps, payment, operation, record));
    },
  );
}

export async function readPublicPayment(tx: Tx, deps: Pick<EndingDeps, "connectors">, payment: StoredPayment) {
  const record = await findRecord(tx, payment, payment.id);
  if (!record) throw new Error("the payment is gone");
  return toPayment(record, deps.connectors.find(record.connector)?.failureNames ?? {});
}

export function requireEnded<T>(driven: DriveResult<T>): T {
  if (driven.kind === "refused") throw driven.failure;
  return driven.value;
}
