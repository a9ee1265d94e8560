// All moves of a payment: from a new one on, applies every report of a processor to every state that is reached, and
// records the rules' answer.
import type { Dispute, DisputeReport, DisputeStatus } from "../../services/payments/rules/dispute.ts";
import { type Attempt, type IntentFact, isAuthorized, statusOf } from "../../services/payments/rules/payment.ts";
import type { Refund, RefundReport, RefundStatus } from "../../services/payments/rules/refund.ts";
import { applyUpdate, type Books, type SettlementUpdate } from "../../services/payments/rules/settlement.ts";
import { deliveredType } from "../../services/webhook/rules/event-types.ts";
import { untouchedPayment } from "../harness/payments/untouched-payment.ts";
import type { Move } from "./machine.ts";

const noon = new Date("2026-01-01T12:00:00Z");
const { amount } = untouchedPayment;
const first: Books = { isDirect: false, state: untouchedPayment, refunds: [], disputes: [], fees: [] };

/** Reports that are possible in a state, in words. */
function reportsOf(books: Books): readonly (readonly [string, SettlementUpdate])[] {
  const { state, refunds, disputes } = books;
  const isOver = state.lastAttemptRef === "" || state.finishedAttempts.has(state.lastAttemptRef);
  const ref = isOver ? `at_${state.finishedAttempts.size + 1}` : state.lastAttemptRef;
  const attempt: Attempt = { ref, startedAt: noon, card: undefined, verification: undefined };
  const receipt = { authorizedAt: noon, capturedAt: noon, authorizationCode: "", receiptUrl: "" };
  const paid = (capturedAmount: bigint, of = attempt): IntentFact => ({
    kind: "attempt_succeeded",
    attempt: of,
    capturedAmount,
    ...receipt,
  });
  const declined = { kind: "attempt_failed", code: "card_declined", message: "", at: noon } as const;
  const reports: [string, SettlementUpdate][] = [
    ["an attempt asks for a challenge", intent({ kind: "action_required", attempt })],
    ["an attempt is under way", intent({ kind: "processing_started", attempt })],
    ["an attempt is declined", intent({ ...declined, attempt })],
    ["an attempt is paid", intent(paid(amount))],
    ["an attempt is authorized", intent(paid(0n))],
    ["the intent is canceled", intent({ kind: "intent_canceled", at: noon })],
    ["it never existed at the processor", { kind: "never_made", at: noon }],
  ];
  if (state.outcome === "succeeded") {
    const paying = { ...attempt, ref: state.lastAttemptRef };
    const left = state.capturedAmount - state.refundedAmount;
    reports.push(["what was authorized is captured", intent(paid(amount, paying))]);
    const expired = { kind: "intent_canceled", at: noon, isExpired: true } as const;
    if (isAuthorized(state)) reports.push(["the authorization expires without a capture", intent(expired)]);
    reports.push(["the bank takes its debit back", intent({ ...declined, attempt: paying })]);
    if (left > 1n) reports.push(["a part is refunded", intentWith({ refunds: [refundOf(refunds.length, 1n)] })]);
    if (left > 0n)
      reports.push(["all that is left is refunded", intentWith({ refunds: [refundOf(refunds.length, left)] })]);
  }
  for (const { connectorRef, amount: refunded } of refunds) {
    const report = { ...refundOf(0, refunded, "failed"), ref: connectorRef };
    reports.push(["a refund comes back", { kind: "refund", report }]);
  }
  if (state.capturedAmount > 0n && disputes.length === 0)
    reports.push(["a dispute opens", intentWith({ disputes: [disputeOf("needs_response")] })]);
  for (const status of disputes.length > 0 ? (["won", "lost"] as const) : [])
    reports.push([`the dispute is ${status}`, intentWith({ disputes: [disputeOf(status)] })]);
  return reports;
}

function intent(fact: IntentFact): SettlementUpdate {
  return { kind: "intent", facts: [fact], refunds: [], disputes: [] };
}

function intentWith(what: { refunds?: RefundReport[]; disputes?: DisputeReport[] }): SettlementUpdate {
  return { kind: "intent", facts: [], refunds: [], disputes: [], ...what };
}

function refundOf(number: number, refunded: bigint, status: RefundStatus = "succeeded"): RefundReport {
  const words = { reason: "", failureCode: "", failureMessage: "" };
  return { ref: `r_${number}`, reference: "", amount: refunded, status, createdAt: noon, ...words };
}

function disputeOf(status: DisputeStatus): DisputeReport {
  return { ref: "d_1", amount, status, reason: "", openedAt: noon };
}

/** The books afterwards, and the delivered events. */
function applyReport(books: Books, report: SettlementUpdate): { after: Books; events: string[] } {
  const number = books.refunds.length + books.disputes.length;
  const settled = applyUpdate(books, report, "processor", (noun) => `${noun}_${number}`);
  const merged = <T extends { readonly id: string }>(known: readonly T[], changed: readonly T[]): T[] => [
    ...known.filter(({ id }) => !changed.some((one) => one.id === id)),
    ...changed,
  ];
  const refunds: Refund[] = merged(
    books.refunds,
    settled.refunds.map(({ refund }) => refund),
  );
  const disputes: Dispute[] = merged(books.disputes, settled.disputes);
  const events = settled.announcements.flatMap(({ type }) => deliveredType(type)?.code ?? []);
  return { after: { ...books, state: settled.state, refunds, disputes }, events };
}

/** States with equal keys have the same further moves. */
function keyOf({ state, refunds, disputes }: Books): string {
  const { outcome, capturedAmount, refundedAmount, disputeHold, authorizedAt, finishedAttempts, lastAttemptRef } =
    state;
  const attempt = lastAttemptRef !== "" && finishedAttempts.has(lastAttemptRef);
  const others = [...refunds, ...disputes].map(({ status }) => status).sort();
  const refunded = [refundedAmount > 0n, refundedAmount === capturedAmount];
  return JSON.stringify([outcome, String(capturedAmount), refunded, disputeHold, authorizedAt, attempt, others]);
}

// No sequence of the world needs more refunds to show every move.
const refundsMax = 2;

/** Each once. */
export function paymentMoves(): Move[] {
  const moves = new Map<string, Move>();
  const known = new Map([[keyOf(first), first]]);
  for (const books of known.values()) {
    for (const [on, report] of reportsOf(books)) {
      const { after, events } = applyReport(books, report);
      const [from, to] = [statusOf(books.state), statusOf(after.state)];
      if (from !== to) {
        const id = `${from} ${on} ${to}`;
        moves.set(id, { from, on, to, events: [...new Set([...(moves.get(id)?.events ?? []), ...events])] });
      }
      if (after.refunds.length <= refundsMax && !known.has(keyOf(after))) known.set(keyOf(after), after);
    }
  }
  return [...moves.values()];
}
