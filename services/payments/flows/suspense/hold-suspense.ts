// Takes in what a processor did in a payment's name that nobody asked for: an intent with our reference beside ours or
// with another amount, a second refund, an intent that the processor lost. Each stands in the operators' list and,
// where money moved, in the journal, until the processor or a person ends it. Runs in the transaction of whoever heard
// of it, under the payment's lock.
import type { Tx } from "#platform/database/database.ts";
import { isId, newId } from "#platform/values/id.ts";
import type { IntentReport } from "../../connectors/connector.ts";
import {
  heldIn,
  holdingMovements,
  holdingOf,
  joinHoldings,
  type OwnCapture,
  type PartedHolding,
  partHolding,
  type SuspenseKind,
  wholeOf,
} from "../../rules/suspense.ts";
import { appendMovements } from "../../store/journal.ts";
import { askAtOnce, type StoredPayment } from "../../store/payments.ts";
import type { StoredRefund } from "../../store/refunds.ts";
import { closeSuspense, reopenSuspense, type StoredSuspense, saveSuspense, suspenseOf } from "../../store/suspense.ts";

/** What was taken in besides the payment. */
export interface Held {
  /** Kinds of what is held in suspense since now; each is an alert. */
  readonly held: readonly SuspenseKind[];
  /** What differs when the intent is not the one that we asked for: it is never finalized. */
  readonly mismatch: string | undefined;
  readonly ignored: readonly string[];
}

export interface OtherIntent {
  readonly kind: "second_charge" | "other_amount";
  /** What differs from the payment. */
  readonly what: string;
}

/** How the report is about another intent than the one that we asked for; undefined: it is ours. */
export function otherIntentOf(payment: StoredPayment, report: IntentReport): OtherIntent | undefined {
  const isOther = payment.connectorRef !== "" && report.ref !== payment.connectorRef;
  if (report.reference !== payment.id) return { kind: "other_amount", what: "reference" };
  if (isOther) return { kind: "second_charge", what: "intent id" };
  if (report.amount !== payment.state.amount) return { kind: "other_amount", what: "amount" };
  if (capturedOf(report) > report.amount) return { kind: "other_amount", what: "captured amount" };
  return report.currency === payment.currency ? undefined : { kind: "other_amount", what: "currency" };
}

function capturedOf({ facts }: IntentReport): bigint {
  return facts.reduce((most, fact) => {
    const captured = fact.kind === "attempt_succeeded" ? fact.capturedAmount : 0n;
    return captured > most ? captured : most;
  }, 0n);
}

/** Keeps what another intent holds. One on which nothing was ever paid is no second charge. */
export async function holdOtherIntent(
  tx: Tx,
  payment: StoredPayment,
  report: IntentReport,
  { kind, what }: OtherIntent,
): Promise<Held> {
  const mismatch = kind === "other_amount" ? what : undefined;
  const known = await suspenseOf(tx, payment.connector, report.ref, kind);
  const isEnded = known?.state === "closed" && !["given_back", "found"].includes(known.resolution);
  if (isEnded) return { held: [], mismatch, ignored: [`${known.id} was ${known.resolution}`] };
  const holding = heldBeside(payment, report, known);
  if (kind === "second_charge" && !known && holding.amount === 0n) {
    return { held: [], mismatch, ignored: [`intent ${report.ref} beside ours: nothing was paid there`] };
  }
  const item = { ...itemOf(payment, kind, report.ref), id: known?.id ?? newId("suspense"), currency: report.currency };
  const isNew = await saveSuspense(tx, { ...item, ...holding });
  const books = { ...payment, currency: report.currency };
  await appendMovements(tx, books, holdingMovements(item.id, known, holding));
  const isEmpty = holding.amount > 0n && heldIn(holding) === 0n;
  if (isEmpty) await closeSuspense(tx, item.id, { resolution: "given_back", operator: "", note: "" });
  else if (known) await reopenSuspense(tx, item.id);
  return { mismatch, held: isNew ? [kind] : [], ignored: [`intent ${report.ref}: held as ${item.id}`] };
}

/**
 * What the intent holds besides the payment's own capture, with what is known of it. What is refunded of an intent on
 * which the payment has captured is the payment's, but for what was given back in the item's own name.
 */
export function heldBeside(
  payment: StoredPayment,
  report: IntentReport,
  known: StoredSuspense | undefined,
): PartedHolding {
  const own = ownCapture(payment, report);
  const about = own ? { ...report, refunds: refundsOfItem(report, known?.id), disputes: [] } : report;
  // Until the payment had captured all that went back was the item's.
  const before = known && { ...wholeOf(known), ...(own && known.kept === 0n && { returned: 0n }) };
  return partHolding(joinHoldings(before, holdingOf(about)), own);
}

/** What was sent back in the name of the item. */
function refundsOfItem({ refunds }: IntentReport, id: string | undefined) {
  return refunds.filter(({ reference }) => id !== undefined && reference === id);
}

function ownCapture({ connectorRef, currency, state }: StoredPayment, report: IntentReport): OwnCapture | undefined {
  const isOwn = connectorRef === report.ref && currency === report.currency && state.capturedAmount > 0n;
  return isOwn ? { attempt: state.lastAttemptRef, amount: state.capturedAmount } : undefined;
}

/**
 * A report of more than was authorized without what is too much: the rest is the payment's, as long as that has
 * captured. @returns undefined: it has not, and what was taken is held as a whole
 */
export function withoutExcess(payment: StoredPayment, report: IntentReport): IntentReport | undefined {
  const own = ownCapture(payment, report);
  if (!own) return undefined;
  const facts = report.facts.map((fact) => {
    const isMore = fact.kind === "attempt_succeeded" && fact.capturedAmount > own.amount;
    return isMore ? { ...fact, capturedAmount: own.amount } : fact;
  });
  return { ...report, facts, refunds: report.refunds.filter(({ reference }) => !isId("suspense", reference)) };
}

/**
 * What was held of the payment's own intent, which is right now: what the payment has captured is no longer held. The
 * processor is asked once more, as reports overtake each other.
 */
export async function endRightIntent(tx: Tx, payment: StoredPayment, report: IntentReport): Promise<void> {
  const item = await suspenseOf(tx, payment.connector, report.ref, "other_amount");
  if (item?.state !== "open" || item.paymentId !== payment.id) return;
  const failed = report.facts.some((fact) => fact.kind === "attempt_failed" && fact.attempt.ref === item.paidBy);
  // That it is authorized says nothing of what is held: the report may be from before it was taken.
  if (item.paidBy !== "" && !failed && !ownCapture(payment, report)) return;
  const holding = heldBeside(payment, report, item);
  await saveSuspense(tx, { ...item, ...holding });
  await appendMovements(tx, payment, holdingMovements(item.id, item, holding));
  if (heldIn(holding) > 0n) return;
  await closeSuspense(tx, item.id, { resolution: "found", operator: "", note: "" });
  await askAtOnce(tx, payment.id);
}

/** Lists second refunds for an operator; their money is booked with them. @returns the kinds that are new. */
export async function holdSecondRefunds(
  tx: Tx,
  payment: StoredPayment,
  refunds: readonly StoredRefund[],
): Promise<readonly SuspenseKind[]> {
  const held: SuspenseKind[] = [];
  for (const refund of refunds) {
    const known = await suspenseOf(tx, payment.connector, refund.connectorRef, "second_refund");
    const stands = refund.status === "pending" || refund.status === "succeeded";
    const item = { ...itemOf(payment, "second_refund", refund.connectorRef), refundId: refund.id };
    const holding = { amount: refund.amount, returned: stands ? 0n : refund.amount };
    const id = known?.id ?? newId("suspense");
    if (await saveSuspense(tx, { ...item, id, ...holding })) held.push("second_refund");
    if (!stands) await closeSuspense(tx, id, { resolution: "given_back", operator: "", note: "" });
  }
  return held;
}

/** Lists an intent that the processor gave and knows nothing of. @returns false when it was listed before. */
export async function holdLostIntent(tx: Tx, payment: StoredPayment): Promise<boolean> {
  const known = await suspenseOf(tx, payment.connector, payment.connectorRef, "lost_intent");
  if (known) return await reopenSuspense(tx, known.id);
  const item = itemOf(payment, "lost_intent", payment.connectorRef);
  return await saveSuspense(tx, { ...item, id: newId("suspense"), amount: 0n, returned: 0n });
}

/** The processor knows it again. */
export async function endFoundIntent(tx: Tx, { connector, connectorRef }: StoredPayment): Promise<void> {
  const item = await suspenseOf(tx, connector, connectorRef, "lost_intent");
  if (item) await closeSuspense(tx, item.id, { resolution: "found", operator: "", note: "" });
}

/** What was held is the payment's own: its intent was made in the place of one whose page ended. */
export async function endAdoptedIntent(tx: Tx, payment: StoredPayment): Promise<void> {
  const item = await suspenseOf(tx, payment.connector, payment.connectorRef, "second_charge");
  if (item?.state !== "open") return;
  const nothing = { ...item, returned: item.amount };
  await saveSuspense(tx, nothing);
  await appendMovements(tx, payment, holdingMovements(item.id, item, nothing));
  await closeSuspense(tx, item.id, { resolution: "found", operator: "", note: "" });
}

function itemOf(payment: StoredPayment, kind: SuspenseKind, connectorRef: string) {
  const { id: paymentId, merchantId, environment, connector, connectorAccountId, currency } = payment;
  return {
    kind,
    paymentId,
    refundId: "",
    merchantId,
    environment,
    connector,
    connectorAccountId,
    currency,
    connectorRef,
    paidBy: "",
    kept: 0n,
  };
}
