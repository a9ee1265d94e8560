// Makes a payment without a session. Phases, each one transaction or one network call, each safe to run again: 1 claim the
// idempotency key, which reserves the payment's id · 2 screen for risk · 3 pay (payments answers the same payment for the same id) ·
// 4 store the answer. A key that was claimed before goes on with the payment its first run began, if it did: what was decided then is
// not asked again.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { crashPoint } from "#platform/crash-point.ts";
import { asFailure, Failure } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { IdempotencyScope } from "#platform/idempotency.ts";
import {
  type CreatePaymentRequest,
  type CreatePaymentResponse,
  CreatePaymentResponseSchema,
} from "#proto/checkout/v1/checkout_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { requestViolations } from "../rules/session-request.ts";
import { insertDecision } from "../store/risk-decisions.ts";
import type { CheckoutContext } from "./context.ts";
import { ifBegun } from "./resume-key.ts";
import { screenCreation } from "./screen-risk.ts";

/** @throws Failure INVALID_BODY, PAYMENT_BLOCKED, NO_CONNECTOR, FORBIDDEN, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function createPayment(context: CheckoutContext, request: CreatePaymentRequest): Promise<Answer> {
  const isSandbox = request.environment === Environment.SANDBOX;
  const violations = requestViolations({ ...request, isSandbox, successUrl: "", cancelUrl: "", locale: "" });
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const { merchantId, environment, idempotency } = request;
  const freshId = newId("payment");
  if (!idempotency) return await payAnew(context, request, freshId);
  const scope: IdempotencyScope = {
    merchantId,
    environment,
    operation: "create_payment",
    key: idempotency.key,
    fingerprint: idempotency.fingerprint,
  };
  const claim = await context.keys.claim(scope, freshId);
  if (claim.kind === "replay") {
    if (claim.answer.kind === "refusal") throw new Failure(claim.answer.reason, { replayed: true });
    return { ...fromBinary(CreatePaymentResponseSchema, claim.answer.bytes), replayed: true };
  }
  const { objectId, lockId } = claim;
  try {
    const response = await (objectId === freshId ? payAnew : goOn)(context, request, objectId);
    const bytes = toBinary(CreatePaymentResponseSchema, {
      $typeName: "checkout.v1.CreatePaymentResponse",
      ...response,
    });
    await context.keys.finish(context.db, scope, lockId, { kind: "response", bytes });
    return response;
  } catch (error) {
    const failure = asFailure(error);
    await context.keys.settleFailure(scope, lockId, failure);
    throw failure;
  }
}

type Answer = Omit<CreatePaymentResponse, "$typeName">;

/** The key was claimed before, so that its first run may have paid. */
async function goOn(context: CheckoutContext, request: CreatePaymentRequest, paymentId: string): Promise<Answer> {
  const begun = await ifBegun(() => pay(context, request, paymentId, true));
  return begun ?? (await payAnew(context, request, paymentId));
}

async function payAnew(context: CheckoutContext, request: CreatePaymentRequest, paymentId: string): Promise<Answer> {
  const decision = await screenCreation(context, { ...request, id: paymentId });
  if (decision.blocked) throw new Failure("PAYMENT_BLOCKED");
  await insertDecision(context.db, request, paymentId, decision);
  return await pay(context, request, paymentId, false);
}

async function pay(
  context: CheckoutContext,
  request: CreatePaymentRequest,
  paymentId: string,
  resumeOnly: boolean,
): Promise<Answer> {
  const { merchantId, environment, amount, currency, description, customerEmail, metadata, paymentMethod } = request;
  const order = { merchantId, environment, amount, currency, description, customerEmail, metadata, paymentMethod };
  const { payment } = await context.payments.createPayment({ ...order, paymentId, resumeOnly });
  crashPoint("create-payment.5-answered");
  if (!payment) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no payment") });
  return { payment, replayed: false };
}
