// Settles a report: the only place where a payment moves. Confirm, events, the reconcile job, refunds, cancellations
// and operators end here, in one transaction: 1 lock · 2 split off unexpected funds and fold the payment's own part
// (rules/settlement.ts) · 3 write and announce · 4 record unexpected funds. A repeated report changes nothing.
import type { Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { requireFound } from "#platform/values/failure.ts";
import { isId, newId } from "#platform/values/id.ts";
import type { IntentReport } from "../connectors/connector.ts";
import { failureNames } from "../connectors/registry.ts";
import type { DisputeReport } from "../rules/dispute.ts";
import { failureCodeOf } from "../rules/failure-code.ts";
import { isReturned, type Path, type PaymentState, statusOf } from "../rules/payment.ts";
import type { RefundReport } from "../rules/refund.ts";
import {
  applyUpdate,
  discrepancyOf,
  ownPart,
  type Settlement,
  type SettlementEvent,
  type SettlementUpdate,
} from "../rules/settlement.ts";
import { disputesOf, releaseDisputes, saveDispute } from "../store/disputes/disputes.ts";
import { closeEndings } from "../store/endings.ts";
import { appendMovements } from "../store/journal.ts";
import { type LockedPayment, lockPayment, recordFound, type StoredPayment, savePayment } from "../store/payments.ts";
import { freeRefundIds, insertRefund, refundsOf, type StoredRefund, saveRefund } from "../store/refunds/refunds.ts";
import { recordFindings, type SettlementFindings } from "./record-findings.ts";
import { atFormerAccount, movePayment, recordPaidRenewal, reportBeforeMove } from "./renewals/replaced-intent.ts";
import { recordFunds, recordSecondRefunds } from "./unexpected-funds/record-funds.ts";

interface SettleDeps {
  readonly outbox: Outbox;
  /** Delay of the reconcile job's next check of a payment that is not settled, seconds. */
  readonly reconcileAfterSeconds: number;
}

export interface SettlementResult extends SettlementFindings {
  readonly ignored: readonly string[];
  /** The payment's refunds after the report, if it was about any. */
  readonly refunds: readonly StoredRefund[];
}

/** The payment's version before the processor was asked; undefined: the report does not answer such a query. */
interface SeenVersion {
  readonly versionSeen?: number | undefined;
}

/** `isFormer`: the report comes from an account that the payment has left. */
type SettledBooks = LockedPayment & SeenVersion & { readonly isFormer?: boolean };

/** Settles a report about an intent in the caller's transaction. @throws Failure NOT_FOUND. */
export async function settlePayment(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: IntentReport,
  path: Path,
  versionSeen?: number,
): Promise<SettlementResult> {
  return await settleLocked(tx, deps, { ...(await lockBooks(tx, paymentId)), versionSeen }, report, path);
}

/** The same for a payment that the caller has locked. */
export async function settleLocked(
  tx: Tx,
  deps: SettleDeps,
  books: SettledBooks,
  report: IntentReport,
  path: Path,
): Promise<SettlementResult> {
  const { payment } = books;
  const isFormer = books.isFormer || report.ref === payment.formerRef;
  const discrepancy = discrepancyOf(payment, report, isFormer);
  if (discrepancy && !isFormer && (await recordPaidRenewal(tx, payment, report))) {
    return await settleLocked(tx, deps, await lockBooks(tx, payment.id), report, path);
  }
  const beforeMove = discrepancy ? undefined : reportBeforeMove(payment, report);
  if (beforeMove) return await settleMove(tx, deps, books, { report, beforeMove }, path);
  const own = ownPart(payment, report, discrepancy);
  const isRenamed = report.reference !== payment.id;
  const settled = own
    ? { ...(await settleUpdate(tx, deps, books, { ...own, kind: "intent" }, path, report.ref)), isRenamed }
    : { payment, refunds: [], opened: [], mismatch: undefined, ignored: [], isRenamed };
  // Otherwise savePayment records it.
  if (!own && payment.notFoundSince && report.ref === payment.connectorRef) await recordFound(tx, payment.id);
  if (!discrepancy && !books.hasUnexpectedFunds) {
    await recordFindings(tx, settled);
    return settled;
  }
  const { mismatch, opened, ignored } = await recordFunds(
    tx,
    isFormer ? atFormerAccount(settled.payment) : settled.payment,
    report,
    discrepancy,
    path,
  );
  await recordFindings(tx, { ...settled, mismatch });
  return {
    ...settled,
    mismatch,
    opened: [...opened, ...settled.opened],
    ignored: [...ignored, ...settled.ignored],
  };
}

/** Settles the end of a declined intent: the payment moves to its next account, unless it was paid meanwhile. */
async function settleMove(
  tx: Tx,
  deps: SettleDeps,
  books: SettledBooks,
  { report, beforeMove }: { readonly report: IntentReport; readonly beforeMove: IntentReport },
  path: Path,
): Promise<SettlementResult> {
  const settled = await settleUpdate(tx, deps, books, { ...beforeMove, kind: "intent" }, path, report.ref);
  const hasMoved = await movePayment(tx, settled.payment, deps.reconcileAfterSeconds);
  const after = await lockBooks(tx, books.payment.id);
  return hasMoved ? { ...settled, payment: after.payment } : await settleLocked(tx, deps, after, report, path);
}

/** Settles a report about one refund of ours. */
export async function settleRefund(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: RefundReport,
): Promise<SettlementResult> {
  return await settleUpdate(tx, deps, await lockBooks(tx, paymentId), { kind: "refund", report });
}

/** Settles a report about one dispute. */
export async function settleDispute(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: DisputeReport,
): Promise<SettlementResult> {
  return await settleUpdate(tx, deps, await lockBooks(tx, paymentId), { kind: "dispute", report });
}

/** Ends a locked payment that the processor provably does not have, with its open capture or cancellation. */
export async function settleNeverMade(tx: Tx, deps: SettleDeps, books: LockedPayment): Promise<SettlementResult> {
  await closeEndings(tx, books.payment.id);
  return await settleUpdate(tx, deps, books, { kind: "never_made", at: clockNow() });
}

/** The payment after a refund has reserved its amount, and the events of that change. */
export function applyReservation(payment: StoredPayment, amount: bigint) {
  const books = { isDirect: payment.sessionId === "", state: payment.state, refunds: [], disputes: [], fees: [] };
  const { state, announcements } = applyUpdate(books, { kind: "refund_reserved", amount }, "reconcile", (noun) =>
    newId(noun),
  );
  const version = payment.version + 1;
  const reserved = { ...payment, state, status: statusOf(state), version };
  return { reserved, events: paymentEvents(payment, version, announcements) };
}

/** The payment under its lock, with what settling needs. @throws Failure NOT_FOUND. */
export async function lockBooks(tx: Tx, paymentId: string): Promise<LockedPayment> {
  const books = requireFound(await lockPayment(tx, paymentId));
  return books;
}

async function settleUpdate(
  tx: Tx,
  deps: SettleDeps,
  { payment, fees, versionSeen }: LockedPayment & SeenVersion,
  update: SettlementUpdate,
  path: Path = "reconcile",
  connectorRef: string = payment.connectorRef,
): Promise<SettlementResult> {
  const { sessionId, state } = payment;
  const isAbout = (what: "refunds" | "disputes") => update.kind === "intent" && update[what].length > 0;
  const hasRefunds = update.kind === "refund" || isAbout("refunds") || state.refundedAmount > 0n;
  const refunds = hasRefunds ? await refundsOf(tx, payment.id) : [];
  const hasDisputes = update.kind === "dispute" || isAbout("disputes") || state.disputeHold !== "none";
  const disputes = hasDisputes ? await disputesOf(tx, payment.id) : [];
  const lost = update.kind === "intent" ? await lostRefundIds(tx, update.refunds, refunds) : new Set<string>();
  const idOf = (noun: "refund" | "dispute", reference: string) => (lost.has(reference) ? reference : newId(noun));
  const settlement = applyUpdate({ isDirect: sessionId === "", state, refunds, disputes, fees }, update, path, idOf);
  // Another report may have scheduled a paid payment after this one was made: only a later query unschedules it.
  const isOver = state.outcome === "succeeded" || isReturned(state);
  const mayEnd = !payment.scheduled || !isOver || versionSeen === payment.version;
  const ended = { ...settlement, isSettled: settlement.isSettled && mayEnd };
  const settled = await writeSettlement(tx, deps, payment, connectorRef, ended);
  const changed = new Set(settled.refunds.map(({ id }) => id));
  return { ...settled, refunds: [...refunds.filter(({ id }) => !changed.has(id)), ...settled.refunds] };
}

/** Our ids of reported refunds that a restored database has lost, and that no other payment uses. */
async function lostRefundIds(
  tx: Tx,
  reports: readonly RefundReport[],
  known: readonly StoredRefund[],
): Promise<ReadonlySet<string>> {
  const isLost = (reference: string) => isId("refund", reference) && !known.some(({ id }) => id === reference);
  const lost = reports.map(({ reference }) => reference).filter(isLost);
  return lost.length === 0 ? new Set() : await freeRefundIds(tx, lost);
}

/** Writes what changed. @returns the refunds that changed or are new. */
async function writeSettlement(
  tx: Tx,
  deps: SettleDeps,
  payment: StoredPayment,
  connectorRef: string,
  settlement: Settlement,
): Promise<SettlementResult> {
  const { id, merchantId, environment, currency, connector } = payment;
  const { state, isSettled } = settlement;
  const owner = { paymentId: id, merchantId, environment, currency, connector };
  const changes = settlement.refunds.map(({ refund, ...change }) => ({ ...change, refund: { ...refund, ...owner } }));
  const refunds = changes.map(({ refund }) => refund);
  const hasChanged = state !== payment.state || (payment.connectorRef === "" && connectorRef !== "");
  const isSaved =
    hasChanged || settlement.needsRecheck || payment.scheduled === isSettled || payment.notFoundSince !== undefined;
  const version = payment.version + (isSaved ? 1 : 0);
  const events = deps.outbox.toRows(paymentEvents(payment, version, settlement.announcements));
  // These statements do not need each other's results: they are sent together and run in this order.
  const writes: Promise<unknown>[] = [];
  for (const { refund, isNew, isAcknowledged } of changes) {
    writes.push(isNew ? insertRefund(tx, refund) : saveRefund(tx, refund, isAcknowledged));
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
  const unasked = refunds.filter((refund) => refund.unasked);
  const opened = await recordSecondRefunds(tx, payment, unasked);
  crashPoint("settle-payment.before-commit");
  const ref = payment.connectorRef || connectorRef;
  return {
    payment: { ...payment, connectorRef: ref, state, status: statusOf(state), version },
    ignored: settlement.ignored,
    refunds,
    isOtherCapture: await ended,
    opened,
    mismatch: undefined,
  };
}

/**
 * Closes the open capture or cancellation once its authorization is captured, canceled, returned or replaced.
 * @returns true: another amount was captured than our capture asks for.
 */
async function endEndings(tx: Tx, { id, state: before }: StoredPayment, state: PaymentState): Promise<boolean> {
  const wasOpen = before.capturedAmount === 0n && before.outcome !== "canceled";
  const isReplaced = before.outcome === "succeeded" && before.lastAttemptRef !== state.lastAttemptRef;
  const isOver = state.capturedAmount > 0n || state.outcome === "canceled" || isReturned(state) || isReplaced;
  // Saves the query on the hot path: an automatic capture has no operation.
  if (state.captureMethod === "automatic" || before === state) return false;
  if (!wasOpen) return state.capturedAmount > before.capturedAmount && before.capturedAmount > 0n;
  const ended = isOver ? await closeEndings(tx, id) : undefined;
  const isItsCapture = ended?.kind === "capture" && state.capturedAmount > 0n && !isReplaced;
  return isItsCapture && ended.amount !== state.capturedAmount;
}

function paymentEvents(payment: StoredPayment, version: number, announcements: readonly SettlementEvent[]) {
  const { id: objectId, merchantId, environment, sessionId, connector, currency, orderReference: reference } = payment;
  const at = clockNow();
  const own = { session_id: sessionId, version: String(version) };
  return announcements.map(({ type, status, amount, attributes: { failure_code: code, ...attributes } }) => {
    const why = code !== undefined && { failure_code: failureCodeOf(failureNames[connector] ?? {}, code) };
    const money = { amount: amount ?? payment.state.amount, currency };
    const about = { merchantId, environment, objectId, money, reference };
    return { type, ...about, status, at, attributes: { ...attributes, ...why, ...own } };
  });
}
