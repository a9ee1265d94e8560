// Creates the intent of a session at one of the merchant's accounts. Phases, each one transaction or one network call,
// each safe to rerun: 1 choose the account (merchant) · 2 payment and operation rows · 3 create at the processor, or at
// a fallback account if it certainly was not created · 4 record. The payment id is the processor's reference, so an
// interrupted run is resumed, never repeated.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type Render, RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import { type CreatedIntent, isKnown, type KnownAnswer, type ProcessorAccount } from "../connectors/connector.ts";
import type { OrderLine } from "../connectors/order.ts";
import { insertPayments, type NewPayment, recordIntents } from "../store/new-payments.ts";
import {
  findOperation,
  firstTry,
  lockUntouched,
  type Operation,
  recordTakeOver,
  rotateKey,
} from "../store/operations.ts";
import { changeAccount, findPayment, lockPayment, type StoredPayment } from "../store/payments.ts";
import { chooseAccounts } from "./accounts/choose-account.ts";
import { type OfferingAccount, offeringAccounts } from "./accounts/payment-methods.ts";
import { type CommandResult, makeIntent } from "./make-at-processor.ts";
import type { VerifyDeps } from "./verify-intent.ts";

export type CreateIntentDeps = Pick<
  VerifyDeps,
  "db" | "accounts" | "reconcileAfterSeconds" | "connectors" | "metrics"
> & { readonly vault: Vault };

type IntentRequest = Omit<NewPayment, "connector" | "connectorAccountId" | "surface" | "routing" | "offeredMethods"> & {
  /** Of the account that the session names; may be empty. */
  readonly connectorId: string;
  readonly returnUrl: string;
  /** Types of methods; empty: those that the account offers. */
  readonly paymentMethods: readonly string[];
  /** For the processor's page and receipt; not stored. */
  readonly lineItems: readonly OrderLine[];
};

type IntentOrderRequest = Pick<
  IntentRequest,
  "id" | "amount" | "currency" | "captureMethod" | "description" | "returnUrl" | "lineItems"
>;

interface IntentAnswer {
  readonly connector: string;
  readonly surface: string;
  readonly render: Render;
}

// Gives the buyer time to pay before the first check: 2 min, in units of reconcileAfterSeconds.
const firstCheckFactor = 4;

/**
 * @param request `resumeOnly`: only resume an earlier call
 * @throws Failure NO_CONNECTOR, FORBIDDEN, INVALID_BODY, CONNECTOR_ERROR; NOT_FOUND: no earlier call to resume.
 */
export async function createIntent(
  deps: CreateIntentDeps,
  { resumeOnly, ...request }: IntentRequest & { readonly resumeOnly: boolean },
): Promise<IntentAnswer> {
  if (resumeOnly) return await resumeIntent(deps, request);
  const active = await deps.accounts.active(request.merchantId, request.environment, request.connectorId);
  const { accounts: routed, routing: chosen } = chooseAccounts(deps, active, request);
  const accounts = offeringAccounts(deps, routed, request);
  // If all are down, the first is tried: that also detects its recovery.
  const account = accounts.find((each) => !deps.connectors.isDown(each)) ?? accounts[0];
  if (!account) throw new Failure("NO_CONNECTOR");
  const routing = account === accounts[0] ? chosen : { ...chosen, reason: "outage" as const };
  crashPoint("create-intent.1-account-chosen");
  const { connector, id: connectorAccountId, surface, offered: offeredMethods } = account;
  const sentAfter = deps.connectors.get(connector).processorTime();
  const operation = firstTry(newId("operation"), "create_intent", request.id, sentAfter);
  const payment: NewPayment = { ...request, connector, connectorAccountId, surface, routing, offeredMethods };
  const timing = {
    operationSeconds: deps.reconcileAfterSeconds,
    checkSeconds: firstCheckFactor * deps.reconcileAfterSeconds,
  };
  const fresh = await deps.db.batched(insertPayments, { payment, operation, ...timing });
  crashPoint("create-intent.2-rows-written");
  if (!fresh) return await resumeIntent(deps, request);
  const fallbacks = accounts.slice(accounts.indexOf(account) + 1);
  return await makeAndRecord(deps, { account, surface, fallbacks }, request, operation);
}

/** Resumes an earlier run with its account, operation and recorded answer. @throws Failure NOT_FOUND. */
async function resumeIntent(deps: CreateIntentDeps, request: IntentRequest): Promise<IntentAnswer> {
  const payment = requireFound(await findPayment(deps.db, request.id));
  // Now two runs may send, so the first one must not change the account any more.
  await recordTakeOver(deps.db, "create_intent", request.id);
  const operation = await findOperation(deps.db, "create_intent", request.id);
  if (!operation) throw new Error("a payment without its operation");
  assertSameRequest(payment, request);
  const render = openRender(deps.vault, payment);
  if (render) return { connector: payment.connector, surface: payment.surface, render };
  const account = { ...(await deps.accounts.byId(payment.connectorAccountId)), offered: payment.offeredMethods };
  return await makeAndRecord(deps, { account, surface: payment.surface, fallbacks: [] }, request, operation);
}

interface IntentTarget {
  readonly account: ProcessorAccount & { readonly offered: readonly string[] | undefined };
  readonly surface: string;
  /** Accounts to try while the intent certainly was not created. */
  readonly fallbacks: readonly OfferingAccount[];
}

/** Phases 3 and 4. @throws Failure as orderRefusal. */
export async function makeAndRecord(
  deps: CreateIntentDeps,
  target: IntentTarget,
  request: IntentOrderRequest,
  operation: Operation,
): Promise<IntentAnswer> {
  const { account, surface } = target;
  const { id: reference, amount, currency, description, returnUrl, captureMethod, lineItems } = request;
  const order = {
    ...{ reference, amount, currency, description, returnUrl, surface, captureMethod, lineItems },
    ...(account.offered && { methods: account.offered }),
  };
  const connector = deps.connectors.get(account.connector);
  const made = await makeIntent({ db: deps.db, connector, account, operation }, order);
  // The processor proved that the old key made nothing: a new key makes the one intent.
  if (made.kind === "never_made") {
    const rotated = await rotateKey(deps.db, operation, deps.reconcileAfterSeconds);
    return await makeAndRecord(deps, target, request, rotated);
  }
  const next = made.kind === "not_sent" ? await fallBack(deps, target, request.id, operation) : undefined;
  if (next) return await makeAndRecord(deps, next, request, operation);
  if (!isKnown(made)) throw orderRefusal(made);
  crashPoint("create-intent.3-made");
  const render = renderOf(account, made.value);
  await recordMade(deps, request.id, made.value, render);
  crashPoint("create-intent.4-recorded");
  return { connector: account.connector, surface, render };
}

/**
 * Moves a payment that was not sent to the next account that is not down. Never if another run may have sent it: other
 * runs and the reconcile job mark the operation before they send. @returns undefined: it stays.
 */
async function fallBack(
  deps: CreateIntentDeps,
  { account, fallbacks }: IntentTarget,
  paymentId: string,
  operation: Operation,
): Promise<IntentTarget | undefined> {
  const next = fallbacks.find((each) => !deps.connectors.isDown(each));
  if (!next) return undefined;
  const moved = await deps.db.transaction(async (tx) => {
    await lockPayment(tx, paymentId);
    return (await lockUntouched(tx, operation.id)) && (await changeAccount(tx, paymentId, account.id, next));
  });
  if (!moved) return undefined;
  deps.metrics.failovers.inc({ from: account.connector, to: next.connector });
  return { account: next, surface: next.surface, fallbacks: fallbacks.slice(fallbacks.indexOf(next) + 1) };
}

/** The error for an order that was not made: a final refusal is the caller's to change. */
export function orderRefusal(made: Exclude<CommandResult<unknown>, KnownAnswer<unknown>>): Failure {
  if (made.kind !== "declined") return new Failure("CONNECTOR_ERROR", { cause: made.cause });
  if (made.code === "amount_not_accepted")
    return invalidField("amount", "is not accepted by the processor in this currency");
  if (made.code === "currency_not_accepted") return invalidField("currency", "is not accepted by the processor");
  if (made.code === "unknown_payment_method") return invalidField("payment_method", "is unknown to the processor");
  if (made.code === "return_url_missing")
    return invalidField("success_url", "is required for the processor's own page");
  // The account takes no orders at all.
  return new Failure("NO_CONNECTOR", { cause: new Error(made.message) });
}

/** Phase 4; also for an unrecorded intent that the reconcile job finds. */
export async function recordMade(
  deps: Pick<CreateIntentDeps, "db" | "vault">,
  paymentId: string,
  made: CreatedIntent,
  render: Render,
): Promise<void> {
  const sealed = sealRender(deps.vault, paymentId, render);
  await deps.db.batched(recordIntents, { paymentId, connectorRef: made.report.ref, render: sealed, renewals: 0 });
}

/** The render contains the processor's secret for the intent: encrypted at rest. */
export function sealRender(vault: Vault, paymentId: string, render: Render): Buffer {
  return vault.encrypt(toBinary(RenderSchema, render), renderContext(paymentId));
}

/** undefined: the intent's creation was not recorded. */
export function openRender(vault: Vault, { id, render }: Pick<StoredPayment, "id" | "render">): Render | undefined {
  return render && fromBinary(RenderSchema, vault.decrypt(render, renderContext(id)));
}

export function renderOf(account: ProcessorAccount, { mount }: CreatedIntent): Render {
  const { connector, environment } = account;
  const { expiresAt, ...shown } = mount;
  const end = expiresAt && { expiresAt: timestampFromDate(expiresAt) };
  return create(RenderSchema, { ...shown, ...end, connector, environment });
}

/** The caller chooses the id: the same id with another content is the caller's defect, never a second intent. */
export function assertSameRequest(
  payment: StoredPayment,
  request: Pick<IntentRequest, "merchantId" | "environment" | "sessionId" | "amount" | "currency" | "captureMethod">,
): void {
  const same =
    payment.merchantId === request.merchantId &&
    payment.environment === request.environment &&
    payment.sessionId === request.sessionId &&
    payment.state.amount === request.amount &&
    payment.currency === request.currency &&
    payment.state.captureMethod === request.captureMethod;
  if (!same) throw new Failure("INTERNAL_ERROR", { cause: new Error("this payment id belongs to another request") });
}

function renderContext(paymentId: string): string {
  return `payment:${paymentId}`;
}
