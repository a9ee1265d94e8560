// Replaces an intent whose page ended while its session is open. Phases, each one transaction or one network call, each
// safe to rerun: 1 read · 2 ask the processor, the only proof that the old intent is no longer payable, and settle ·
// 3 the operation's row, under the payment's lock · 4 create at the processor, once · 5 record. The reconcile job and
// cancellations find a renewal that was not recorded.
import { setTimeout as pause } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { Render } from "#proto/payments/v1/payments_pb.ts";
import { isKnown } from "../../connectors/connector.ts";
import type { IntentOrder } from "../../connectors/order.ts";
import { isUnpaid } from "../../rules/payment.ts";
import { closeOperation, type Operation, rotateKey } from "../../store/operations.ts";
import { findPayment, type StoredPayment } from "../../store/payments.ts";
import { openRenewal, renewalOf } from "../../store/renewals.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { openRender } from "../create-intent.ts";
import { makeIntent } from "../make-at-processor.ts";
import { lockBooks } from "../settle-payment.ts";
import { settleReport } from "../verify-intent.ts";
import { adoptRenewal, type RenewDeps } from "./adopt-renewal.ts";
import { rerouteIntent } from "./reroute-intent.ts";

/** The parts of an order that are not stored. */
interface RenewalRequest extends Pick<IntentOrder, "description" | "returnUrl" | "lineItems"> {
  readonly paymentId: string;
  readonly onlyAfterDecline: boolean;
}

interface RenewalResult {
  readonly payment: StoredPayment;
  /** Of the new intent, or of the old one if it is still payable. */
  readonly render: Render | undefined;
}

/** @throws Failure NOT_FOUND, CONNECTOR_ERROR (in doubt). */
export async function renewIntent(deps: RenewDeps, request: RenewalRequest): Promise<RenewalResult> {
  const read = requireFound(await findPayment(deps.db, request.paymentId));
  const payment = await rerouteIntent(deps, read, request);
  const answered = (after: StoredPayment) => ({ payment: after, render: openRender(deps.vault, after) });
  if (request.onlyAfterDecline || payment.connectorRef === "" || !isUnpaid(payment.state)) return answered(payment);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  // It must not be paid: its next check or confirm ends it.
  if (account.merchantStatus !== "active" || !deps.connectors.serves(account)) return answered(payment);
  const connector = deps.connectors.get(payment.connector);
  const answer = await connector.retrieveIntent(account, payment.connectorRef);
  if (!isKnown(answer) && isPromiseValid(deps.vault, payment)) return answered(payment);
  const report = provenValue(answer);
  crashPoint("renew-intent.2-asked");
  const settled = await settleReport(deps, payment.id, report, "reconcile", payment.version);
  if (report.pageEndedAt === undefined || !isUnpaid(settled.state)) return answered(settled);
  const operation = await beginRenewal(deps, payment, connector.processorTime());
  crashPoint("renew-intent.3-row-written");
  if (operation) {
    await makeRenewal(deps, request, payment, operation).catch(async (error: unknown) => {
      if (!operation.tried || !(await isRenewedByOther(deps, payment))) throw error;
    });
  }
  const after = await findPayment(deps.db, payment.id);
  if (!after) throw new Error("the payment is gone");
  return answered(after);
}

/** True until the page end that the processor announced: enough to show it while the processor is unreachable. */
function isPromiseValid(vault: Vault, payment: StoredPayment): boolean {
  const end = openRender(vault, payment)?.expiresAt;
  return end !== undefined && timestampMs(end) > clockMs();
}

/** Phase 3. @returns undefined: the payment changed meanwhile. */
async function beginRenewal(
  deps: RenewDeps,
  { id, connectorRef, renewals }: StoredPayment,
  sentAfter: Date | undefined,
): Promise<Operation | undefined> {
  return await deps.db.transaction(async (tx) => {
    const { payment } = await lockBooks(tx, id);
    if (payment.connectorRef !== connectorRef || !isUnpaid(payment.state)) return undefined;
    const operation = { id: newId("operation"), paymentId: id, renewal: renewals + 1, sentAfter };
    return await openRenewal(tx, operation, deps.reconcileAfterSeconds);
  });
}

// A concurrent request for the same link usually has the processor's answer within 1.5 s.
const pollsMax = 6;
const pollMs = 250;

/** True if a concurrent run, whose key the processor rejects from us, has renewed the intent. */
async function isRenewedByOther({ db }: Pick<RenewDeps, "db">, { id, connectorRef }: StoredPayment): Promise<boolean> {
  for (let polls = 0; polls < pollsMax; polls++) {
    await pause(pollMs);
    const now = await findPayment(db, id);
    if (now?.connectorRef !== connectorRef) return true;
  }
  return false;
}

/** Phases 4 and 5. @throws Failure CONNECTOR_ERROR. */
async function makeRenewal(
  deps: RenewDeps,
  request: RenewalRequest,
  payment: StoredPayment,
  operation: Operation,
): Promise<void> {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const { description, returnUrl, lineItems } = request;
  const order = {
    ...{ description, returnUrl, lineItems, reference: payment.id, renewal: renewalOf(operation) },
    ...{ amount: payment.state.amount, currency: payment.currency, surface: payment.surface },
    captureMethod: payment.state.captureMethod,
    ...(payment.offeredMethods && { methods: payment.offeredMethods }),
  };
  const made = await makeIntent({ db: deps.db, connector, account, operation }, order);
  // The old key provably made nothing: a new key makes the one intent.
  if (made.kind === "never_made") {
    const rotated = await rotateKey(deps.db, operation, deps.reconcileAfterSeconds).catch((cause: unknown) => {
      throw new Failure("CONNECTOR_ERROR", { cause });
    });
    return await makeRenewal(deps, request, payment, rotated);
  }
  if (made.kind === "declined") await closeOperation(deps.db, "renew_intent", operation.reference);
  const intent = provenValue(made);
  crashPoint("renew-intent.4-made");
  await adoptRenewal(deps, payment, operation, intent);
  crashPoint("renew-intent.5-recorded");
}
