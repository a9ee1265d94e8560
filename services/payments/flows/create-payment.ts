// Makes a payment without a session at the merchant's active connector. Phases, each one transaction or one network
// call, each safe to rerun: 1 choose the account (merchant) · 2 payment and operation rows · 3 pay at the processor ·
// 4 settle. The payment id is the processor's reference, so an interrupted run is resumed, never repeated. Without an
// answer the payment is pending, and the reconcile job completes it.
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { isKnown, type ProcessorAccount } from "../connectors/connector.ts";
import type { PaymentOrder } from "../connectors/order.ts";
import { insertPayments, type NewPayment } from "../store/new-payments.ts";
import { closeOperation, findOperation, firstTry, type Operation, reopenOperation } from "../store/operations.ts";
import { findRecord, type PaymentRecord } from "../store/payment-records.ts";
import { findPayment, type StoredPayment, showPayment } from "../store/payments.ts";
import { filterCapable } from "./accounts/choose-account.ts";
import { endUnmadePayment } from "./cancel-intent.ts";
import { assertSameRequest, type CreateIntentDeps, orderRefusal } from "./create-intent.ts";
import { makePayment } from "./make-at-processor.ts";
import { settleReport, type VerifyDeps } from "./verify-intent.ts";

export type CreatePaymentDeps = CreateIntentDeps & VerifyDeps;

export type PaymentRequest = Pick<
  NewPayment,
  | "id"
  | "merchantId"
  | "environment"
  | "amount"
  | "currency"
  | "description"
  | "orderReference"
  | "customerEmail"
  | "metadata"
  | "captureMethod"
> & {
  /** The processor's token; stored encrypted while the outcome is in doubt. */
  readonly paymentMethod: string;
};

// Life of a caller's idempotency key; an unpaid payment is canceled an hour later.
const retryMs = 86_400_000;

/**
 * @param request `resumeOnly`: only resume an earlier call
 * @throws Failure NO_CONNECTOR, FORBIDDEN, INVALID_BODY (payment_method), CONNECTOR_ERROR (certainly not paid),
 * NOT_FOUND (no earlier call to resume).
 */
export async function createPayment(
  deps: CreatePaymentDeps,
  { resumeOnly, ...request }: PaymentRequest & { readonly resumeOnly: boolean },
): Promise<PaymentRecord> {
  if (resumeOnly || !(await beginPayment(deps, request))) await resumePayment(deps, request);
  const record = await findRecord(deps.db, request, request.id);
  if (!record) throw new Error("the payment is gone");
  return record;
}

/** Phases 1 to 4. @returns false: an earlier call has begun. */
async function beginPayment(deps: CreatePaymentDeps, request: PaymentRequest): Promise<boolean> {
  // The token belongs to the primary account's processor, so there is no fallback.
  const { accounts } = await deps.accounts.active(request.merchantId, request.environment, "");
  const [account] = accounts;
  if (!deps.connectors.serves(account)) throw new Failure("NO_CONNECTOR");
  filterCapable(deps, [account], request.captureMethod);
  const { connector, id: connectorAccountId, surface } = account;
  const expiresAt = new Date(clockMs() + retryMs);
  const routing = { rule: undefined, reason: "primary" as const };
  const payment = { ...request, sessionId: "", connector, connectorAccountId, surface, expiresAt, routing };
  const id = newId("operation");
  const sealedOrder = sealOrder(deps.vault, id, orderOf(request));
  const sentAfter = deps.connectors.get(connector).processorTime();
  const operation = firstTry(id, "create_intent", request.id, sentAfter, { sealedOrder });
  const timing = { operationSeconds: deps.reconcileAfterSeconds, checkSeconds: deps.reconcileAfterSeconds };
  if (!(await deps.db.batched(insertPayments, { payment, operation, ...timing }))) return false;
  crashPoint("create-payment.2-rows-written");
  await payAndRecord(deps, account, request, operation);
  return true;
}

/** Resumes an earlier run: a settled payment stays, everything else is sent again under the same key. */
async function resumePayment(deps: CreatePaymentDeps, request: PaymentRequest): Promise<void> {
  const payment = requireFound(await findPayment(deps.db, request.id));
  assertSameRequest(payment, { ...request, sessionId: "" });
  // Merchants already see it: the reconcile job completes it.
  if (payment.state.visible) return;
  if (payment.state.outcome === "canceled") throw new Failure("CONNECTOR_ERROR", { cause: new Error("never made") });
  const known = await findOperation(deps.db, "create_intent", request.id);
  if (!known) throw new Error("a payment without its operation");
  const sealed = sealOrder(deps.vault, known.id, orderOf(request));
  await reopenOperation(deps.db, "create_intent", request.id, deps.reconcileAfterSeconds, sealed);
  await payAndRecord(deps, await deps.accounts.byId(payment.connectorAccountId), request, known);
}

/** Phases 3 and 4. */
async function payAndRecord(
  deps: CreatePaymentDeps,
  account: ProcessorAccount,
  request: PaymentRequest,
  operation: Operation,
): Promise<void> {
  const connector = deps.connectors.get(account.connector);
  const made = await makePayment({ db: deps.db, connector, account, operation }, orderOf(request));
  crashPoint("create-payment.3-paid");
  if (isKnown(made)) {
    const { state } = await settleReport(deps, request.id, made.value, "confirm");
    crashPoint("create-payment.4-settled");
    // The processor accepted the order, but reports no attempt yet.
    if (!state.visible) await showPayment(deps.db, request.id);
    return await closeOperation(deps.db, "create_intent", request.id);
  }
  if (made.kind === "not_sent") {
    // The error states that nothing happened, so only the caller may send it again.
    await closeOperation(deps.db, "create_intent", request.id);
    throw orderRefusal(made);
  }
  if (made.kind === "declined" || made.kind === "never_made") {
    await deps.db.transaction((tx) => endUnmadePayment(tx, deps, request.id));
    throw orderRefusal(made);
  }
  // In doubt: the merchant sees a pending payment, and the reconcile job completes it.
  await showPayment(deps.db, request.id);
  await reopenOperation(deps.db, "create_intent", request.id, deps.reconcileAfterSeconds);
}

/**
 * Brings a payment in doubt forward: resends it while the processor keeps its key, searches it afterwards. A payment
 * that its caller never saw is only searched. @returns the answer, for the history.
 */
export async function drivePayment(
  deps: CreatePaymentDeps,
  payment: StoredPayment,
  operation: Operation,
): Promise<string> {
  // A report had it. Its reference may have been changed since, so a search need not find it.
  if (payment.connectorRef !== "") {
    await closeOperation(deps.db, "create_intent", payment.id);
    return `the payment is ${payment.status}`;
  }
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const order = payment.state.visible ? openOrder(deps.vault, payment, operation) : undefined;
  const made = await makePayment({ db: deps.db, connector, account, operation }, order);
  if (isKnown(made)) {
    await settleReport(deps, payment.id, made.value, "reconcile");
    await closeOperation(deps.db, "create_intent", payment.id);
  } else if (made.kind === "declined" || made.kind === "never_made") {
    await deps.db.transaction((tx) => endUnmadePayment(tx, deps, payment.id));
    deps.outbox.wake();
  }
  return made.kind === "unknown" ? `unknown: ${made.cause}` : made.kind;
}

function orderOf(request: PaymentRequest): PaymentOrder {
  const { id: reference, amount, currency, description, paymentMethod, captureMethod } = request;
  return { reference, amount, currency, description, paymentMethod, captureMethod };
}

/** The part of an order that a resend needs and the payment's row does not have. */
function sealOrder(vault: Vault, operationId: string, { description, paymentMethod }: PaymentOrder): Buffer {
  return vault.encrypt(Buffer.from(JSON.stringify({ description, paymentMethod })), tokenContext(operationId));
}

function openOrder(vault: Vault, payment: StoredPayment, operation: Operation): PaymentOrder | undefined {
  if (!operation.sealedOrder) return undefined;
  const opened: unknown = JSON.parse(vault.decrypt(operation.sealedOrder, tokenContext(operation.id)).toString());
  const { description, paymentMethod } = opened as Pick<PaymentOrder, "description" | "paymentMethod">;
  const { id: reference, currency, state } = payment;
  const { amount, captureMethod } = state;
  return { reference, amount, currency, description, paymentMethod, captureMethod };
}

function tokenContext(operationId: string): string {
  return `operation:${operationId}`;
}
