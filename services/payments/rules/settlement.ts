// Settles a payment: takes a processor's report and returns everything that changes; writes nothing. Confirm, events,
// the reconcile job, refunds, cancellations and operators all end in this one fold. Ignored reports have a reason.
import {
  applyDisputeReport,
  type ChangedDispute,
  type Dispute,
  type DisputeReport,
  holdOf,
  holdOfAll,
} from "./dispute.ts";
import type { FeeSchedules } from "./fee.ts";
import { assertBooked, type Movement } from "./journal.ts";
import {
  type AttemptEnd,
  assertPossible,
  eventStatus,
  type IntentFact,
  isAuthorized,
  isReleased,
  isReturned,
  type Path,
  type PaymentState,
  statusOf,
} from "./payment.ts";
import { applyFact, type Change, endUnmade } from "./payment-transition.ts";
import { applyRefundReport, type ChangedRefund, isCounted, type Refund, type RefundReport } from "./refund.ts";
import type { Claimant, Discrepancy, ReportedIntent } from "./unexpected-funds.ts";

/** The payment before the report. */
export interface Books {
  /** Without a session. */
  readonly isDirect: boolean;
  readonly state: PaymentState;
  /** All refunds and disputes, if the report is about any. */
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly fees: FeeSchedules;
}

export type SettlementUpdate =
  /** The whole intent. */
  | (Pick<ReportedIntent, "facts" | "refunds" | "disputes"> & {
      readonly kind: "intent";
      /** More was captured than asked for: a refund that does not fit the payment's own capture is of the excess. */
      readonly hasExcess?: boolean;
    })
  | { readonly kind: "refund"; readonly report: RefundReport }
  /** A refund reserves its amount before it is sent to the processor. */
  | { readonly kind: "refund_reserved"; readonly amount: bigint }
  | { readonly kind: "dispute"; readonly report: DisputeReport }
  /** The processor provably has no intent. */
  | { readonly kind: "never_made"; readonly at: Date };

export interface SettlementEvent {
  readonly type: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of the refund or dispute that the event is about; undefined: it is about the whole payment. */
  readonly amount: bigint | undefined;
}

export interface Settlement {
  readonly state: PaymentState;
  readonly refunds: readonly ChangedRefund[];
  readonly disputes: readonly ChangedDispute[];
  /** Ids of known disputes whose debit was returned. */
  readonly released: readonly string[];
  readonly attempts: readonly AttemptEnd[];
  readonly movements: readonly Movement[];
  readonly announcements: readonly SettlementEvent[];
  /** Why parts of the report changed nothing. */
  readonly ignored: readonly string[];
  /** The processor need not be asked again. */
  readonly isSettled: boolean;
  /** A part of the report must wait: the processor is asked again soon. */
  readonly needsRecheck: boolean;
}

/** An id for a new refund or dispute. @param reference our refund id, as the processor reports it; may be empty */
type NewId = (noun: "refund" | "dispute", reference: string) => string;

/** @param isFormer of an account that the payment has left @returns undefined: it is the payment's own. */
export function discrepancyOf(payment: Claimant, report: ReportedIntent, isFormer = false): Discrepancy | undefined {
  const hasIntent = payment.connectorRef !== "";
  const isOther = isFormer || (hasIntent && report.ref !== payment.connectorRef);
  if (isOther) return { kind: "second_charge", field: "intent id" };
  // Others can edit the reference, so it decides only while the payment has no intent.
  if (!hasIntent && report.reference !== payment.id) return { kind: "other_amount", field: "reference" };
  if (report.amount !== payment.state.amount) return { kind: "other_amount", field: "amount" };
  if (report.currency !== payment.currency) return { kind: "other_amount", field: "currency" };
  const isExcess = report.facts.some((fact) => hasCaptured(fact, report.amount));
  return isExcess ? { kind: "excess_capture", field: "captured amount" } : undefined;
}

/** The part of a report that is the payment's own: never more than its order. @returns undefined: none. */
export function ownPart(
  payment: Claimant,
  report: ReportedIntent,
  discrepancy: Discrepancy | undefined,
): (ReportedIntent & { readonly hasExcess?: true }) | undefined {
  if (!discrepancy) return report;
  if (discrepancy.kind !== "excess_capture") return undefined;
  const { amount } = payment.state;
  return {
    ...report,
    facts: report.facts.map((fact) => (hasCaptured(fact, amount) ? { ...fact, capturedAmount: amount } : fact)),
    // An operator's refund of the excess carries the id of its row.
    refunds: report.refunds.filter(({ reference }) => !reference.startsWith("su_")),
    disputes: report.disputes.map((one) => (one.amount > amount ? { ...one, amount } : one)),
    hasExcess: true,
  };
}

const hasCaptured = (fact: IntentFact, above: bigint) =>
  fact.kind === "attempt_succeeded" && fact.capturedAmount > above;

export function applyUpdate(books: Books, update: SettlementUpdate, path: Path, newId: NewId): Settlement {
  const draft = new Draft(books, path, newId);
  switch (update.kind) {
    case "intent": {
      // The authorization of an intent that has ended is announced only if it was not announced before.
      const isOver = update.facts.some(({ kind }) => kind === "intent_canceled");
      for (const fact of update.facts) draft.fact(fact, isOver ? "reconcile" : path);
      for (const report of update.refunds) draft.refund(report, update.hasExcess);
      for (const report of update.disputes) draft.dispute(report);
      break;
    }
    case "refund":
      draft.refund(update.report);
      // A failed refund may make room for a waiting refund of the dashboard, which only the whole intent shows.
      if (!isCounted(update.report.status)) draft.needsRecheck = true;
      break;
    case "refund_reserved":
      draft.addRefunded(update.amount);
      break;
    case "dispute":
      draft.dispute(update.report);
      break;
    case "never_made":
      draft.apply(endUnmade(draft.state, books.isDirect, update.at), "never made");
  }
  const settlement = draft.result();
  assertPossible(settlement.state);
  // A refund's reservation is booked with its row.
  if (update.kind !== "refund_reserved") assertBooked(books.state, settlement.state, settlement.movements);
  return settlement;
}

/** The fold's working copy. */
class Draft {
  readonly #books: Books;
  readonly #path: Path;
  readonly #newId: NewId;
  state: PaymentState;
  needsRecheck = false;
  readonly #refunds: Refund[];
  #disputes: readonly Dispute[];
  readonly #changedRefunds = new Map<string, ChangedRefund>();
  readonly #changedDisputes: ChangedDispute[] = [];
  readonly #attempts: AttemptEnd[] = [];
  readonly #movements: Movement[] = [];
  readonly #announcements: SettlementEvent[] = [];
  readonly #ignored: string[] = [];

  constructor(books: Books, path: Path, newId: NewId) {
    this.#books = books;
    this.#path = path;
    this.#newId = newId;
    this.state = books.state;
    this.#refunds = [...books.refunds];
    this.#disputes = books.disputes;
  }

  addRefunded(amount: bigint): void {
    if (amount !== 0n) this.state = { ...this.state, refundedAmount: this.state.refundedAmount + amount };
  }

  fact(fact: IntentFact, path: Path): void {
    const before = this.state;
    this.apply(applyFact(this.state, fact, path, this.#books.fees), fact.kind);
    const isGone = (state: PaymentState) => isReturned(state) || isReleased(state);
    if (isGone(this.state) && !isGone(before)) this.#releaseDisputes();
  }

  apply(change: Change, what: string): void {
    this.state = change.state;
    this.#movements.push(...change.movements);
    for (const end of change.ended) this.#end(end);
    const [end] = change.ended;
    const why = end?.outcome === "failed" ? { failure_code: end.code } : {};
    for (const type of change.announce) this.#announce(type, type === "payment.failed" ? why : {});
    if (change.ignored !== undefined) this.#ignored.push(`${what}: ${change.ignored}`);
  }

  refund(report: RefundReport, hasExcess = false): void {
    const newId = (reference: string) => this.#newId("refund", reference);
    const change = applyRefundReport(this.state, this.#refunds, report, hasExcess, newId);
    if (change.kind === "ignored") {
      this.#ignored.push(change.reason);
      this.needsRecheck ||= change.mustWait === true;
      return;
    }
    const { refund, isAcknowledged } = change;
    const index = this.#refunds.findIndex(({ id }) => id === refund.id);
    this.#refunds.splice(index < 0 ? this.#refunds.length : index, 1, refund);
    const isNew = change.isNew || this.#changedRefunds.get(refund.id)?.isNew === true;
    this.#changedRefunds.set(refund.id, { refund, isNew, isAcknowledged });
    this.#movements.push(...change.movements);
    this.addRefunded(change.refunded);
    for (const type of change.announce) {
      this.#announce(type, { refund_id: refund.id, refund_status: refund.status }, refund.amount);
    }
  }

  dispute(report: DisputeReport): void {
    const isPaid = this.state.outcome === "succeeded";
    const isSame = ({ connectorRef }: Dispute) => connectorRef === report.ref;
    // A disputed payment that is not paid was returned.
    if (!isPaid) this.#disputes = this.#disputes.map((one) => (isSame(one) ? { ...one, released: true } : one));
    const known = this.#disputes.find(isSame);
    const change = applyDisputeReport(this.state, known, report, () => this.#newId("dispute", ""));
    if (change.kind === "ignored") return void this.#ignored.push(change.reason);
    const { dispute } = change;
    this.#disputes = known ? this.#disputes.map((one) => (isSame(one) ? dispute : one)) : [...this.#disputes, dispute];
    this.#changedDisputes.push(dispute);
    this.#movements.push(...change.movements);
    const hold = holdOfAll(this.#disputes);
    const isHeld = hold.disputeHold === this.state.disputeHold && hold.disputedAmount === this.state.disputedAmount;
    if (isPaid && !isHeld) this.state = { ...this.state, ...hold };
    const due = report.evidenceDueAt && { evidence_due_at: report.evidenceDueAt.toISOString() };
    const attributes = { dispute_id: dispute.id, dispute_status: dispute.status, ...due };
    for (const type of change.announce) this.#announce(type, attributes, dispute.amount);
  }

  result(): Settlement {
    const { outcome, disputeHold } = this.state;
    // Without a session, nothing follows a decline. An authorization ends by its capture or its release.
    const isFinal =
      (outcome === "succeeded" && !isAuthorized(this.state)) ||
      outcome === "canceled" ||
      isReturned(this.state) ||
      (outcome === "failed" && this.#books.isDirect);
    const isWaiting =
      this.needsRecheck || disputeHold === "open" || this.#refunds.some((refund) => refund.status === "pending");
    const held = new Set(this.#books.disputes.flatMap(({ id, released }) => (released ? [] : [id])));
    return {
      state: this.state,
      refunds: [...this.#changedRefunds.values()],
      disputes: this.#changedDisputes,
      released: this.#disputes.flatMap(({ id, released }) => (released && held.has(id) ? [id] : [])),
      attempts: this.#attempts,
      movements: this.#movements,
      announcements: this.#finalAnnouncements(),
      ignored: this.#ignored,
      isSettled: isFinal && !isWaiting,
      needsRecheck: this.needsRecheck,
    };
  }

  /** The money that open disputes held was returned; they do not hold a later payment. */
  #releaseDisputes(): void {
    const open = this.#disputes.filter(({ released, status }) => !released && holdOf(status) === "open");
    this.#movements.unshift(
      ...open.map(({ id, amount }) => ({ kind: "dispute_released", cause: id, amount }) as const),
    );
    this.#disputes = this.#disputes.map((one) => ({ ...one, released: true }));
  }

  /** An attempt that succeeded may fail in the same report: only its last end is written. */
  #end(end: AttemptEnd): void {
    const index = this.#attempts.findIndex(({ ref }) => ref === end.ref);
    const attempt = end.attempt ?? this.#attempts[index]?.attempt;
    this.#attempts.splice(index < 0 ? this.#attempts.length : index, 1, { ...end, attempt });
  }

  #announce(type: string, attributes: Readonly<Record<string, string>> = {}, amount?: bigint): void {
    const { state } = this;
    const [failed_attempts, card_fingerprint] = [String(state.failedAttempts), state.card?.fingerprint ?? ""];
    this.#announcements.push({
      ...{ type, amount, status: eventStatus(type, state) },
      attributes: { ...attributes, path: this.#path, failed_attempts, card_fingerprint },
    });
  }

  /** Every event of one change carries the payment's state after it: they have one version. */
  #finalAnnouncements(): readonly SettlementEvent[] {
    const { state } = this;
    const isAnnounced = this.#announcements.some(({ type }) => type.startsWith("payment."));
    // Consumers of payments get each change of status; merchants get no such event.
    if (!isAnnounced && statusOf(state) !== statusOf(this.#books.state)) this.#announce("payment.updated");
    const after = {
      // The session of a returned or released payment was paid, and stays completed.
      outcome: isReturned(state) || isReleased(state) ? "succeeded" : state.outcome,
      payment_status: statusOf(state),
      receipt_url: state.receiptUrl,
      captured_amount: String(state.capturedAmount),
    };
    return this.#announcements.map((one) => ({ ...one, attributes: { ...one.attributes, ...after } }));
  }
}
