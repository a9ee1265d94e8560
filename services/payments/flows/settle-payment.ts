// The one place where a payment moves: confirm, the processor's events, the reconcile job, our own refunds,
// cancellations and operators all end here, in one transaction under the payment's lock: lock · read · fold
// (rules/settlement.ts) · write · announce. Whoever comes first moves the state; the others find it done.
import type { Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId, newId } from "#platform/values/id.ts";
import type { IntentReport } from "../connectors/connector.ts";
import { failureNames } from "../connectors/registry.ts";
import type { DisputeReport } from "../rules/dispute.ts";
import { failureCodeOf } from "../rules/failure-code.ts";
import { isReturned, type Path, type PaymentState, statusOf } from "../rules/payment.ts";
import type { RefundReport } from "../rules/refund.ts";
import {
  discrepancyOf,
  ownPart,
  type Settlement,
  type SettlementEvent,
  type SettlementUpdate,
  settle,
} from "../rules/settlement.ts";
import { disputesOf, releaseDisputes, saveDispute } from "../store/disputes/disputes.ts";
import { closeEndings } from "../store/endings.ts";
import { appendMovements } from "../store/journal.ts";
import {
  type LockedPayment,
  lockPayment,
  recordFound,
  recordRenewal,
  type StoredPayment,
  savePayment,
} from "../store/payments.ts";
import { freeRefundIds, insertRefund, refundsOf, type StoredRefund, saveRefund } from "../store/refunds/refunds.ts";
import { type RecordedFunds, recordFunds, recordSecondRefunds } from "./unexpected-funds/record-funds.ts";

export interface SettleDeps {
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly reconcileAfterSeconds: number;
}

/** `ignored`: why facts changed nothing, for the record. */
export interface SettlementResult extends RecordedFunds {
  /** The processor captured another amount than it was asked to: an alert. */
  readonly isOtherCapture?: boolean;
  /** The intent is known, and its reference names another payment or none: an alert. */
  readonly isRenamed?: boolean;
  readonly payment: StoredPayment;
  /** The payment's refunds as they are now, where the news was about some. */
  readonly refunds: readonly StoredRefund[];
}

/**
 * Folds a processor's report into the payment within the caller's transaction. @throws Failure NOT_FOUND (no such
 * payment).
 */
export async function settlePayment(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: IntentReport,
  path: Path,
  versionSeen?: number,
): Promise<SettlementResult> {
  return await settleLocked(tx, deps, { ...(await lockedBooks(tx, paymentId)), versionSeen }, report, path);
}

/** The same for a payment that the caller has locked. */
export async function settleLocked(
  tx: Tx,
  deps: SettleDeps,
  books: LockedPayment & SeenVersion,
  report: IntentReport,
  path: Path,
): Promise<SettlementResult> {
  const { payment } = books;
  const discrepancy = discrepancyOf(payment, report);
  const renewed = discrepancy && (await recordRenewalReport(tx, payment, report));
  if (renewed) return await settleLocked(tx, deps, renewed, report, path);
  const own = ownPart(payment, report, discrepancy);
  const isRenamed = report.reference !== payment.id;
  const settled = own
    ? { ...(await settleUpdate(tx, deps, books, { ...own, kind: "intent" }, path, report.ref)), isRenamed }
    : { payment, refunds: [], opened: [], mismatch: undefined, ignored: [], isRenamed };
  // What is not settled does not save the payment either.
  if (!own && payment.notFoundSince && report.ref === payment.connectorRef) await recordFound(tx, payment.id);
  if (!discrepancy && !books.hasUnexpectedFunds) return settled;
  const { mismatch, opened, ignored } = await recordFunds(tx, settled.payment, report, discrepancy, path);
  return {
    ...settled,
    mismatch,
    opened: [...opened, ...settled.opened],
    ignored: [...ignored, ...settled.ignored],
  };
}

/**
 * An intent that was made in the place of the payment's, and was paid before anybody recorded it: the answer got lost.
 * An unpaid one is recorded by whoever looks for it, with what its buyer's browser needs.
 * @returns undefined: it is none
 */
async function recordRenewalReport(
  tx: Tx,
  { id, renewals, render }: StoredPayment,
  { ref: connectorRef, reference, renewal, facts }: IntentReport,
): Promise<LockedPayment | undefined> {
  if (reference !== id || renewal !== renewals + 1) return undefined;
  if (!facts.some(({ kind }) => kind === "attempt_succeeded")) return undefined;
  return (await recordRenewal(tx, { id, renewal, connectorRef }, render)) ? await lockedBooks(tx, id) : undefined;
}

/** Folds what the processor says about one refund of ours into the payment. */
export async function settleRefund(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: RefundReport,
): Promise<SettlementResult> {
  const books = await lockedBooks(tx, paymentId);
  return await settleUpdate(tx, deps, books, { kind: "refund", report }, "reconcile", books.payment.connectorRef);
}

/** Folds what the processor says about one dispute into the payment. */
export async function settleDispute(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: DisputeReport,
): Promise<SettlementResult> {
  const books = await lockedBooks(tx, paymentId);
  return await settleUpdate(tx, deps, books, { kind: "dispute", report }, "reconcile", books.payment.connectorRef);
}

/** The payment once a refund has taken its amount, with the events of that change: sessions follow each status. */
export function reservedRefund(payment: StoredPayment, amount: bigint) {
  const books = { isDirect: payment.sessionId === "", state: payment.state, refunds: [], disputes: [], fees: [] };
  const { state, announcements } = settle(books, { kind: "refund_reserved", amount }, "reconcile", (noun) =>
    newId(noun),
  );
  const version = payment.version + 1;
  const reserved = { ...payment, state, status: statusOf(state), version };
  return { reserved, events: announcementsOf(payment, version, announcements) };
}

/**
 * Ends a payment of which the processor surely has nothing, and with it what was asked for: nothing is left to capture
 * or to cancel. @param books as the caller has locked it.
 */
export async function settleNeverMade(tx: Tx, deps: SettleDeps, books: LockedPayment): Promise<SettlementResult> {
  await closeEndings(tx, books.payment.id);
  const update: SettlementUpdate = { kind: "never_made", at: clockNow() };
  return await settleUpdate(tx, deps, books, update, "reconcile", books.payment.connectorRef);
}

/** The payment under its lock, with what settling needs. @throws Failure NOT_FOUND. */
export async function lockedBooks(tx: Tx, paymentId: string): Promise<LockedPayment> {
  const books = await lockPayment(tx, paymentId);
  if (!books) throw new Failure("NOT_FOUND");
  return books;
}

async function settleUpdate(
  tx: Tx,
  deps: SettleDeps,
  { payment, fees, versionSeen }: LockedPayment & SeenVersion,
  update: SettlementUpdate,
  path: Path,
  connectorRef: string,
): Promise<SettlementResult> {
  const { sessionId, state } = payment;
  const isAbout = (what: "refunds" | "disputes") => update.kind === "intent" && update[what].length > 0;
  const hasRefunds = update.kind === "refund" || isAbout("refunds") || state.refundedAmount > 0n;
  const refunds = hasRefunds ? await refundsOf(tx, payment.id) : [];
  const hasDisputes = update.kind === "dispute" || isAbout("disputes");
  const disputes = hasDisputes || state.disputeHold !== "none" ? await disputesOf(tx, payment.id) : [];
  const free = await freeReferences(tx, update, refunds);
  const idOf = (noun: "refund" | "dispute", reference: string) => (free.has(reference) ? reference : newId(noun));
  const settlement = settle({ isDirect: sessionId === "", state, refunds, disputes, fees }, update, path, idOf);
  // A report may be older than what put a paid payment on the list, so only a look since then takes it off.
  const isOver = state.outcome === "succeeded" || isReturned(state);
  const mayEnd = !payment.scheduled || !isOver || versionSeen === payment.version;
  const ended = { ...settlement, isSettled: settlement.isSettled && mayEnd };
  const settled = await writeSettlement(tx, deps, payment, connectorRef, ended);
  const changed = new Set(settled.refunds.map(({ id }) => id));
  return { ...settled, refunds: [...refunds.filter(({ id }) => !changed.has(id)), ...settled.refunds] };
}

/**
 * Ids of ours that the processor gives refunds which we do not know: a restored database has lost them, and they keep
 * their ids. One that is another payment's refund is none of them, whatever the processor says.
 */
async function freeReferences(
  tx: Tx,
  update: SettlementUpdate,
  known: readonly StoredRefund[],
): Promise<ReadonlySet<string>> {
  if (update.kind !== "intent") return new Set();
  const named = update.refunds.map(({ reference }) => reference);
  const unknown = named.filter((reference) => isId("refund", reference) && !known.some(({ id }) => id === reference));
  return unknown.length === 0 ? new Set() : await freeRefundIds(tx, unknown);
}

/**
 * The payment's version before the processor was asked; undefined: the report is not the answer to a look of ours at
 * that payment.
 */
interface SeenVersion {
  readonly versionSeen?: number | undefined;
}

/**
 * Writes everything that changed; nothing is written when nothing did. @returns the refunds that changed or are new.
 */
async function writeSettlement(
  tx: Tx,
  deps: SettleDeps,
  payment: StoredPayment,
  connectorRef: string,
  settlement: Settlement,
): Promise<SettlementResult> {
  const { id, merchantId, environment, currency, connector } = payment;
  const { state, isSettled } = settlement;
  const owned = settlement.refunds.map(({ refund }) => ({
    ...refund,
    paymentId: id,
    merchantId,
    environment,
    currency,
    connector,
  }));
  const hasChanged = state !== payment.state || (payment.connectorRef === "" && connectorRef !== "");
  const isSaved =
    hasChanged || settlement.needsRecheck || payment.scheduled === isSettled || payment.notFoundSince !== undefined;
  const version = payment.version + (isSaved ? 1 : 0);
  const events = deps.outbox.toRows(announcementsOf(payment, version, settlement.announcements));
  // None needs another's answer: they are sent together, and done in this order.
  const writes: Promise<unknown>[] = [];
  for (const [i, { isNew, isAcknowledged }] of settlement.refunds.entries()) {
    const refund = owned[i];
    if (refund) writes.push(isNew ? insertRefund(tx, refund) : saveRefund(tx, refund, isAcknowledged));
  }
  for (const dispute of settlement.disputes) writes.push(saveDispute(tx, { ...dispute, paymentId: id, connector }));
  writes.push(releaseDisputes(tx, settlement.released));
  if (isSaved) {
    const checkAfterSeconds = isSettled ? undefined : deps.reconcileAfterSeconds;
    writes.push(savePayment(tx, { id, connectorRef, state, checkAfterSeconds }, settlement.attempts));
  }
  const ended = endEndings(tx, payment, state);
  writes.push(ended, appendMovements(tx, payment, settlement.movements, events));
  await Promise.all(writes);
  const isOtherCapture = await ended;
  const opened = await recordSecondRefunds(
    tx,
    payment,
    owned.filter(({ unasked }) => unasked),
  );
  crashPoint("settle-payment.before-commit");
  return {
    payment: {
      ...payment,
      connectorRef: payment.connectorRef || connectorRef,
      state,
      status: statusOf(state),
      version,
    },
    ignored: settlement.ignored,
    refunds: owned,
    isOtherCapture,
    opened,
    mismatch: undefined,
  };
}

/**
 * Closes the merchant's open capture or cancellation once the authorization it was for is captured, canceled, returned
 * or replaced by the next one. @returns true: another amount was captured than our capture asks for.
 */
async function endEndings(tx: Tx, { id, state: before }: StoredPayment, state: PaymentState): Promise<boolean> {
  const wasOpen = before.capturedAmount === 0n && before.outcome !== "canceled";
  const isReplaced = before.outcome === "succeeded" && before.lastAttemptRef !== state.lastAttemptRef;
  const isOver = state.capturedAmount > 0n || state.outcome === "canceled" || isReturned(state) || isReplaced;
  // What the processor captures by itself has no such end, and a payment's hot path no such question.
  if (state.captureMethod === "automatic" || before === state) return false;
  if (!wasOpen) return state.capturedAmount > before.capturedAmount && before.capturedAmount > 0n;
  const ended = isOver ? await closeEndings(tx, id) : undefined;
  const isItsCapture = ended?.kind === "capture" && state.capturedAmount > 0n && !isReplaced;
  return isItsCapture && ended.amount !== state.capturedAmount;
}

function announcementsOf(payment: StoredPayment, version: number, announcements: readonly SettlementEvent[]) {
  const { id: objectId, merchantId, environment, sessionId, connector } = payment;
  const at = clockNow();
  const own = { session_id: sessionId, version: String(version) };
  return announcements.map(({ type, status, attributes: { failure_code: code, ...attributes } }) => {
    const why = code !== undefined && { failure_code: failureCodeOf(failureNames[connector] ?? {}, code) };
    return { type, merchantId, environment, objectId, status, at, attributes: { ...attributes, ...why, ...own } };
  });
}
