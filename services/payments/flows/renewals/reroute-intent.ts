// Moves a declined payment to the merchant's next account, once. Phases, each one transaction or one network call,
// each safe to rerun: 1 choose the account (merchant) · 2 note it, under the payment's lock · 3 end the declined intent
// at its processor · 4 settle that report, which moves the payment if it is unpaid (replaced-intent.ts) · 5 create the
// intent there, as create-intent.ts. A payment that was paid meanwhile, or whose end is not proved, stays.
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { OrderLine } from "../../connectors/order.ts";
import { failureCodeOf } from "../../rules/failure-code.ts";
import { isReturned } from "../../rules/payment.ts";
import { findOperation } from "../../store/operations.ts";
import type { NextAccount } from "../../store/payment-columns.ts";
import { findPayment, type StoredPayment } from "../../store/payments.ts";
import { beginReroute, claimFirstTry, findDeclineCode } from "../../store/reroutes.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { chooseNext } from "../accounts/choose-account.ts";
import { endUnmadePayment } from "../cancel-intent.ts";
import { makeAndRecord } from "../create-intent.ts";
import { lockBooks } from "../settle-payment.ts";
import { settleReport } from "../verify-intent.ts";
import type { RenewDeps } from "./adopt-renewal.ts";

interface Order {
  readonly description: string;
  readonly returnUrl: string;
  readonly lineItems: readonly OrderLine[];
}

/** @returns the payment after it, moved or not. @throws Failure CONNECTOR_ERROR (in doubt), SERVICE_UNAVAILABLE. */
export async function rerouteIntent(deps: RenewDeps, read: StoredPayment, order: Order): Promise<StoredPayment> {
  if (read.sessionId === "") return read;
  const payment = read.formerRef === "" ? await endDeclined(deps, read) : read;
  if (payment.formerRef === "" || payment.connectorRef !== "" || payment.state.outcome !== "failed") return payment;
  await makeNext(deps, payment, order);
  return (await findPayment(deps.db, payment.id)) ?? payment;
}

/** Phases 1 to 4. */
async function endDeclined(deps: RenewDeps, payment: StoredPayment): Promise<StoredPayment> {
  const { id, connectorRef, state } = payment;
  if (connectorRef === "" || state.outcome !== "failed" || isReturned(state)) return payment;
  const next = payment.rerouteTo ?? (await nextAccount(deps, payment));
  if (!next) return payment;
  crashPoint("reroute-intent.1-chosen");
  const isBegun = await deps.db.transaction(async (tx) => {
    const { payment: locked } = await lockBooks(tx, id);
    return locked.connectorRef === connectorRef && (await beginReroute(tx, id, next));
  });
  if (!isBegun) return (await findPayment(deps.db, id)) ?? payment;
  crashPoint("reroute-intent.2-noted");
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const answer = await connector.cancelIntent(account, connectorRef, "keep");
  crashPoint("reroute-intent.3-ended");
  // A refusal means that it was paid, is under way, or has ended, which its report shows.
  const report = provenValue(
    answer.kind === "declined" ? await connector.retrieveIntent(account, connectorRef) : answer,
  );
  return await settleReport(deps, id, report, "reconcile");
}

/** Phase 1. @returns undefined: the decline is final */
async function nextAccount(deps: RenewDeps, payment: StoredPayment): Promise<NextAccount | undefined> {
  const { id, merchantId, connector: name, state, currency } = payment;
  const reported = await findDeclineCode(deps.db, id);
  if (reported === undefined) return undefined;
  const active = await deps.accounts.active(merchantId, payment.environment as Environment, "");
  const code = failureCodeOf(deps.connectors.find(name)?.failureNames ?? {}, reported);
  if (!active.declineCodes.includes(code)) return undefined;
  const { amount, captureMethod } = state;
  const next = chooseNext(deps, active, { ...payment, amount, currency, captureMethod });
  const sentAfter = next && deps.connectors.get(next.connector).processorTime()?.toISOString();
  return next && { id: next.id, connector: next.connector, surface: next.surface, offered: next.offered, sentAfter };
}

/** Phase 5. @throws Failure CONNECTOR_ERROR, SERVICE_UNAVAILABLE. */
async function makeNext(deps: RenewDeps, payment: StoredPayment, order: Order): Promise<void> {
  const { id, currency, surface } = payment;
  const operation = await findOperation(deps.db, "create_intent", id);
  if (!operation) throw new Error("a payment without its operation");
  const account = { ...(await deps.accounts.byId(payment.connectorAccountId)), offered: payment.offeredMethods };
  const { description, returnUrl, lineItems } = order;
  const { amount, captureMethod } = payment.state;
  const request = { id, amount, currency, captureMethod, description, returnUrl, lineItems };
  const tried = !(await claimFirstTry(deps.db, operation.id));
  try {
    await makeAndRecord(deps, { account, surface, fallbacks: [] }, request, { ...operation, tried });
  } catch (error) {
    const isInDoubt = !(error instanceof Failure) || ["CONNECTOR_ERROR", "SERVICE_UNAVAILABLE"].includes(error.reason);
    if (isInDoubt) throw error;
    // The next account refuses the order, and the declined intent has ended.
    await deps.db.transaction((tx) => endUnmadePayment(tx, deps, id));
    deps.outbox.wake();
  }
}
