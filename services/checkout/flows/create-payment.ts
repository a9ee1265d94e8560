// Creates a payment without a session. Phases, each safe to rerun: 1 claim the idempotency key, which reserves the
// payment's id · 2 screen for risk and announce the key · 3 pay (payments is idempotent by the id) · 4 store the
// answer. A retry with the key resumes a begun payment without screening it again.
import { create } from "@bufbuild/protobuf";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import {
  type CreatePaymentRequest,
  type CreatePaymentResponse,
  CreatePaymentResponseSchema,
} from "#proto/checkout/v1/checkout_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { screenCreation } from "../risk/screen-risk.ts";
import { requestViolations } from "../rules/session-request.ts";
import { insertDecision } from "../store/risk-decisions.ts";
import { resumeBegun } from "./resume-key.ts";
import { imageOf } from "./session-image.ts";

/** @throws Failure INVALID_BODY, PAYMENT_BLOCKED, NO_CONNECTOR, FORBIDDEN, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function createPayment(
  context: CheckoutContext,
  request: CreatePaymentRequest,
): Promise<CreatePaymentResponse> {
  const isSandbox = request.environment === Environment.SANDBOX;
  const violations = requestViolations({
    ...request,
    isSandbox,
    successUrl: "",
    cancelUrl: "",
    locale: "",
    lineItems: [],
  });
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const { merchantId, environment, idempotency } = request;
  const scope = idempotency && {
    merchantId,
    environment,
    operation: "create_payment",
    key: idempotency.key,
    fingerprint: idempotency.fingerprint,
  };
  return await withIdempotency(
    context.keys,
    CreatePaymentResponseSchema,
    scope,
    newId("payment"),
    async ({ id, isResumed, finish }) => {
      const response = await (isResumed ? resumePayment : startPayment)(context, request, id, scope);
      await finish?.(context.db, response);
      return response;
    },
  );
}

/** An earlier run with the key may have paid. */
async function resumePayment(
  context: CheckoutContext,
  request: CreatePaymentRequest,
  paymentId: string,
  scope: IdempotencyScope | undefined,
): Promise<CreatePaymentResponse> {
  const begun = await resumeBegun(() => makePayment(context, request, paymentId, true));
  return begun ?? (await startPayment(context, request, paymentId, scope));
}

async function startPayment(
  context: CheckoutContext,
  request: CreatePaymentRequest,
  paymentId: string,
  scope: IdempotencyScope | undefined,
): Promise<CreatePaymentResponse> {
  const decision = await screenCreation(context, { ...request, id: paymentId });
  if (decision.blocked) throw new Failure("PAYMENT_BLOCKED");
  await insertDecision(context.db, request, paymentId, decision);
  if (scope) await announceKey(context, paymentId, scope);
  return await makePayment(context, request, paymentId, false);
}

/** Announces the key before payments is called, so that a restored database can recover it. Attribute: image. */
async function announceKey(context: CheckoutContext, objectId: string, scope: IdempotencyScope): Promise<void> {
  const { merchantId, environment } = scope;
  const attributes = imageOf(context.vault, objectId, undefined, scope);
  const requested = {
    type: "payment.requested",
    merchantId,
    environment,
    objectId,
    status: "requested",
    at: clockNow(),
  };
  await context.outbox.append(context.db, [{ ...requested, attributes }]);
  context.outbox.wake();
}

async function makePayment(
  context: CheckoutContext,
  request: CreatePaymentRequest,
  paymentId: string,
  resumeOnly: boolean,
): Promise<CreatePaymentResponse> {
  const { merchantId, environment, amount, currency, description, orderReference, ...buyer } = request;
  const { customerEmail, metadata, paymentMethod, captureMethod } = buyer;
  const money = { merchantId, environment, amount, currency };
  const order = { ...money, description, orderReference, customerEmail, metadata, paymentMethod, captureMethod };
  const { payment } = await context.payments.createPayment({ ...order, paymentId, resumeOnly });
  crashPoint("create-payment.5-answered");
  if (!payment) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no payment") });
  return create(CreatePaymentResponseSchema, { payment, replayed: false });
}
