// Makes a payment without a session at the merchant's active connector. Phases, each one transaction or one network call, each
// safe to run again: 1 choose the account (merchant) · 2 payment and operation rows · 3 pay at the processor · 4 settle.
// The payment id is the processor's reference, so a run that broke anywhere is continued, never doubled. No answer is not a
// failure: the payment is shown as pending, and the reconcile job brings it to its end.
import { crashPoint } from "#platform/crash-point.ts";
import { newId } from "#platform/id.ts";
import { type Account, isTold } from "../connectors/connector.ts";
import { closeOperation, findOperation, firstTry, type Operation, reopenOperation } from "../store/operations.ts";
import { findRecord, type PaymentRecord } from "../store/payment-records.ts";
import { findPayment, insertPayment, type NewPayment, showPayment } from "../store/payments.ts";
import { assertSameRequest, type CreateIntentDeps, refusedOrder } from "./create-intent.ts";
import { makePayment } from "./make-at-processor.ts";
import { settleReport, type VerifyDeps } from "./verify-intent.ts";

export type CreatePaymentDeps = CreateIntentDeps & VerifyDeps;

export type PaymentRequest = Pick<
  NewPayment,
  "id" | "merchantId" | "environment" | "amount" | "currency" | "description" | "customerEmail" | "metadata"
> & {
  /** The processor's token; it is not kept. */
  readonly paymentMethod: string;
};

// As long as a caller's idempotency key is kept for a retry; an hour later what was never paid is canceled.
const retryMs = 86_400_000;

/** @throws Failure NO_CONNECTOR, FORBIDDEN, INVALID_BODY (payment_method), CONNECTOR_ERROR (surely nothing happened). */
export async function createPayment(deps: CreatePaymentDeps, request: PaymentRequest): Promise<PaymentRecord> {
  // The token is of the primary account's processor: no other account can stand in.
  const [account] = await deps.accounts.active(request.merchantId, request.environment);
  const { connector, id: connectorAccountId, surface } = account;
  const expiresAt = new Date(Date.now() + retryMs);
  const payment = { ...request, sessionId: "", connector, connectorAccountId, surface, expiresAt };
  const operation = firstTry(newId("operation"), "create_intent", request.id);
  const timing = { operationSeconds: deps.patienceSeconds, checkSeconds: deps.patienceSeconds };
  const fresh = await insertPayment(deps.db, payment, operation.id, timing);
  crashPoint("create-payment.2-rows-written");
  if (fresh) await pay(deps, account, request, operation);
  else await goOn(deps, request);
  const record = await findRecord(deps.db, request, request.id);
  if (!record) throw new Error("the payment is gone");
  return record;
}

/** An earlier run with this id has begun: what is settled stays, everything else is asked for again under the same key. */
async function goOn(deps: CreatePaymentDeps, request: PaymentRequest): Promise<void> {
  const payment = await findPayment(deps.db, request.id);
  if (!payment) throw new Error("a payment that was there is gone");
  assertSameRequest(payment, { ...request, sessionId: "" });
  if (payment.state.visible) return;
  await reopenOperation(deps.db, "create_intent", request.id, deps.patienceSeconds);
  const operation = await findOperation(deps.db, "create_intent", request.id);
  if (!operation) throw new Error("a payment without its operation");
  await pay(deps, await deps.accounts.byId(payment.connectorAccountId), request, operation);
}

/** Phases 3 and 4. */
async function pay(
  deps: CreatePaymentDeps,
  account: Account,
  request: PaymentRequest,
  operation: Operation,
): Promise<void> {
  const { id: reference, amount, currency, description, paymentMethod } = request;
  const order = { reference, amount, currency, description, paymentMethod };
  const made = await makePayment(deps.db, deps.connectors.get(account.connector), account, order, operation);
  crashPoint("create-payment.3-paid");
  if (made.kind === "declined" || made.kind === "not_sent") throw refusedOrder(made);
  if (!isTold(made)) return await leavePending(deps, reference);
  const { state } = await settleReport(deps, reference, made.value, "confirm");
  crashPoint("create-payment.4-settled");
  // A processor that has the order and has not begun to pay.
  if (!state.visible) await showPayment(deps.db, reference);
  await closeOperation(deps.db, "create_intent", reference);
}

/** The merchant sees the payment, and the reconcile job asks about it from now on, whatever it has seen before. */
async function leavePending(deps: CreatePaymentDeps, paymentId: string): Promise<void> {
  await showPayment(deps.db, paymentId);
  await reopenOperation(deps.db, "create_intent", paymentId, deps.patienceSeconds);
}
