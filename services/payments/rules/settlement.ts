// Settles a payment: what the processor says goes in, everything that changes comes out, and nothing is written here.
// Confirm, the processor's events, the reconcile job, refunds, cancellations and operators all end in this one fold.
// Total: news that changes nothing says why.
import { type Dispute, type DisputeReport, holdOf, isInquiry, moveDispute } from "./dispute.ts";
import type { FeeSchedules } from "./fee.ts";
import type { Movement } from "./journal.ts";
import {
  type AttemptEnd,
  applyFact,
  type Change,
  endUnmade,
  type IntentFact,
  isAuthorized,
  isReleased,
  isReturned,
  type Path,
  type PaymentState,
  refundedStatus,
  statusOf,
} from "./payment.ts";
import { isCounted, moveRefund, openingMovements, type Refund, type RefundReport, reasonMax } from "./refund.ts";

/** What is known of a payment. */
export interface Books {
  /** Without a session. */
  readonly isDirect: boolean;
  readonly state: PaymentState;
  /** All refunds and disputes, where the news is about some. */
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly fees: FeeSchedules;
}

export type SettlementUpdate =
  /** The whole intent, as the processor knows it. */
  | {
      readonly kind: "intent";
      readonly facts: readonly IntentFact[];
      readonly refunds: readonly RefundReport[];
      readonly disputes: readonly DisputeReport[];
      /** More was captured than asked for: what does not fit the payment's own capture is of the excess. */
      readonly hasExcess?: boolean;
    }
  /** One refund alone. */
  | { readonly kind: "refund"; readonly report: RefundReport }
  /** A refund takes its amount, before the processor is asked for it. */
  | { readonly kind: "refund_reserved"; readonly amount: bigint }
  /** One dispute alone. */
  | { readonly kind: "dispute"; readonly report: DisputeReport }
  /** It is proved that the processor has nothing of it. */
  | { readonly kind: "never_made"; readonly at: Date };

export interface SettlementEvent {
  readonly type: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Settlement {
  readonly state: PaymentState;
  /** Refunds and disputes that changed or are new. */
  readonly refunds: readonly ChangedRefund[];
  readonly disputes: readonly ChangedDispute[];
  /** Ids of disputes whose debit came back. */
  readonly released: readonly string[];
  readonly attempts: readonly AttemptEnd[];
  readonly movements: readonly Movement[];
  readonly announcements: readonly SettlementEvent[];
  /** Why news changed nothing. */
  readonly ignored: readonly string[];
  /** Nothing is left to ask the processor. */
  readonly isSettled: boolean;
  /** Something could not be taken in yet: the processor is asked again soon. */
  readonly needsRecheck: boolean;
}

export interface ChangedRefund {
  readonly refund: Refund;
  readonly isNew: boolean;
  /** The processor acknowledges it only now, which ends its operation. */
  readonly isAcknowledged: boolean;
}

export type ChangedDispute = Dispute & Pick<DisputeReport, "reason" | "openedAt" | "evidenceDueAt">;

/**
 * An id for a refund or a dispute that is new to us.
 * @param reference what the processor calls a refund in our name; empty: nothing
 */
export type NewId = (noun: "refund" | "dispute", reference: string) => string;

export function settle(books: Books, update: SettlementUpdate, path: Path, newId: NewId): Settlement {
  const draft = new Draft(books, path, newId);
  switch (update.kind) {
    case "intent": {
      // That an intent which has ended had been authorized is news only where nobody has heard of it.
      const isOver = update.facts.some(({ kind }) => kind === "intent_canceled");
      for (const fact of update.facts) draft.fact(fact, isOver ? "reconcile" : path);
      for (const report of update.refunds) draft.refund(update.hasExcess ? draft.limitRefund(report) : report);
      draft.disputes(update.disputes);
      break;
    }
    case "refund":
      draft.refund(update.report);
      // An amount that was given back may make room for a refund of the dashboard that did not fit before; only the
      // whole intent tells.
      if (!isCounted(update.report.status)) draft.askAgain();
      break;
    case "refund_reserved":
      draft.addRefunded(update.amount);
      break;
    case "dispute":
      draft.disputes([update.report]);
      break;
    case "never_made":
      draft.apply(endUnmade(draft.state, books.isDirect, update.at), "never made");
  }
  return draft.result();
}

/** The fold's own working copy. */
class Draft {
  readonly #books: Books;
  readonly #path: Path;
  readonly #newId: NewId;
  state: PaymentState;
  readonly #refunds: Refund[];
  readonly #changedRefunds = new Map<string, ChangedRefund>();
  readonly #changedDisputes: ChangedDispute[] = [];
  readonly #released: Set<string>;
  readonly #attempts: AttemptEnd[] = [];
  readonly #movements: Movement[] = [];
  readonly #announcements: SettlementEvent[] = [];
  readonly #ignored: string[] = [];
  #needsRecheck = false;

  constructor(books: Books, path: Path, newId: NewId) {
    this.#books = books;
    this.#path = path;
    this.#newId = newId;
    this.state = books.state;
    this.#refunds = [...books.refunds];
    this.#released = new Set(books.disputes.filter(({ released }) => released).map(({ id }) => id));
  }

  /** Keeps the payment on the reconcile job's list whatever else is known. */
  askAgain(): void {
    this.#needsRecheck = true;
  }

  addRefunded(amount: bigint): void {
    if (amount !== 0n) this.state = { ...this.state, refundedAmount: this.state.refundedAmount + amount };
  }

  fact(fact: IntentFact, path: Path): void {
    const before = this.state;
    this.apply(applyFact(this.state, fact, path, this.#books.fees), fact.kind);
    const isGone = (state: PaymentState) => isReturned(state) || isReleased(state);
    if (isGone(this.state) && !isGone(before)) this.#release();
  }

  /** The money that open disputes held went back; none of them holds what is paid afterwards. */
  #release(): void {
    for (const { id, status, amount } of this.#books.disputes) {
      if (this.#released.has(id)) continue;
      this.#released.add(id);
      if (holdOf(status) === "open") this.#movements.unshift({ kind: "dispute_released", cause: id, amount });
    }
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

  /** An attempt that was paid may fail in the same report: it is written once, as it ended last. */
  #end(end: AttemptEnd): void {
    const index = this.#attempts.findIndex(({ ref }) => ref === end.ref);
    const attempt = end.attempt ?? this.#attempts[index]?.attempt;
    this.#attempts.splice(index < 0 ? this.#attempts.length : index, 1, { ...end, attempt });
  }

  refund(report: RefundReport): void {
    const same = this.#refunds.find((refund) => report.ref !== "" && refund.connectorRef === report.ref);
    const named = this.#refunds.find((refund) => refund.id === report.reference);
    if (same) this.#moveRefund(same, report);
    else if (named && isSecond(named, report)) this.#importRefund(report, true);
    else if (named && report.ref === "" && named.connectorRef !== "") {
      this.#ignored.push(`refund ${named.id}: it was made meanwhile`);
    } else if (named) this.#moveRefund(named, report);
    else this.#importRefund(report, false);
  }

  /** As much of a refund as fits the payment's own capture. */
  limitRefund(report: RefundReport): RefundReport {
    const isKnown = this.#refunds.some(
      ({ id, connectorRef }) => id === report.reference || connectorRef === report.ref,
    );
    if (isKnown || !isCounted(report.status) || report.amount <= this.#refundable) return report;
    return { ...report, amount: this.#refundable };
  }

  disputes(reports: readonly DisputeReport[]): void {
    if (reports.length === 0) return;
    const known = [...this.#books.disputes];
    for (const report of reports) {
      const index = known.findIndex((dispute) => dispute.connectorRef === report.ref);
      const { dispute, announce } = this.#moveDispute(known[index], report);
      known.splice(index < 0 ? known.length : index, 1, dispute);
      if (this.#isPaid) this.#holdFor(known);
      const due = report.evidenceDueAt && { evidence_due_at: report.evidenceDueAt.toISOString() };
      const attributes = { dispute_id: dispute.id, dispute_status: dispute.status, ...due };
      for (const type of announce) this.#announce(type, attributes);
    }
  }

  result(): Settlement {
    const { outcome, disputeHold } = this.state;
    // Without a session nobody tries again after a decline; a returned payment has ended, too. What is only authorized
    // ends by its capture or without it.
    const isFinal =
      (outcome === "succeeded" && !isAuthorized(this.state)) ||
      outcome === "canceled" ||
      isReturned(this.state) ||
      (outcome === "failed" && this.#books.isDirect);
    const isWaiting =
      this.#needsRecheck || disputeHold === "open" || this.#refunds.some((refund) => refund.status === "pending");
    return {
      state: this.state,
      refunds: [...this.#changedRefunds.values()],
      disputes: this.#changedDisputes,
      released: [...this.#released].filter((id) => this.#books.disputes.some((one) => one.id === id && !one.released)),
      attempts: this.#attempts,
      movements: this.#movements,
      announcements: this.#finalAnnouncements(),
      ignored: this.#ignored,
      isSettled: isFinal && !isWaiting,
      needsRecheck: this.#needsRecheck,
    };
  }

  #moveRefund(refund: Refund, report: RefundReport): void {
    const change = moveRefund(refund, report.status);
    if (change.kind === "ignored" && refund.acknowledged && refund.connectorRef !== "") {
      this.#ignored.push(`refund ${refund.id}: ${change.reason}`);
      return;
    }
    const isMoved = change.kind === "moved";
    const next: Refund = {
      ...refund,
      connectorRef: refund.connectorRef || report.ref,
      status: isMoved ? change.status : refund.status,
      failureCode: isMoved ? report.failureCode : refund.failureCode,
      failureMessage: isMoved ? report.failureMessage : refund.failureMessage,
      acknowledged: true,
    };
    if (isMoved) {
      this.#movements.push(...change.movements);
      this.addRefunded(-change.restoredAmount);
    }
    this.#refunds[this.#refunds.indexOf(refund)] = next;
    const isNew = this.#changedRefunds.get(next.id)?.isNew ?? false;
    this.#changedRefunds.set(next.id, { refund: next, isNew, isAcknowledged: !refund.acknowledged });
    this.#announceRefund(refund, next);
  }

  /**
   * A refund made at the processor's own dashboard, one of ours that a restored database lost, or a second one in the
   * name of one of ours. It waits while it does not fit.
   */
  #importRefund(report: RefundReport, unasked: boolean): void {
    const { status, amount } = report;
    if (amount <= 0n) {
      this.#ignored.push(`refund ${report.ref}: of what was captured in excess`);
      return;
    }
    if (isCounted(status) && amount > this.#refundable) {
      // A refund of ours that the processor never got holds the amount; the reconcile job settles that one first.
      this.#needsRecheck = true;
      this.#ignored.push(`refund ${report.ref}: more than what is left; taken in when it fits`);
      return;
    }
    const refund: Refund = {
      id: this.#newId("refund", unasked ? "" : report.reference),
      amount,
      status,
      connectorRef: report.ref,
      reason: report.reason.slice(0, reasonMax),
      failureCode: report.failureCode,
      failureMessage: report.failureMessage,
      acknowledged: true,
      unasked,
      createdAt: report.createdAt,
    };
    this.#refunds.push(refund);
    this.#changedRefunds.set(refund.id, { refund, isNew: true, isAcknowledged: false });
    this.#movements.push(...openingMovements(refund));
    if (isCounted(status)) this.addRefunded(amount);
    this.#announceRefund({ ...refund, acknowledged: false, status: "pending" }, refund);
  }

  /**
   * payment.refunded when a refund is created (acknowledged) or settles, and what became of it once it ends
   * (docs/contract.md §9).
   */
  #announceRefund(before: Refund, after: Refund): void {
    const attributes = { refund_id: after.id, refund_status: after.status };
    const isMoved = before.status !== after.status;
    if (!isCounted(after.status)) {
      if (isMoved) this.#announce("payment.refund_failed", attributes);
      return;
    }
    if (isMoved || !before.acknowledged) this.#announce("payment.refunded", attributes);
    if (isMoved && after.status === "succeeded") this.#announce("payment.refund_succeeded", attributes);
  }

  #moveDispute(
    known: Dispute | undefined,
    report: DisputeReport,
  ): { readonly dispute: Dispute; readonly announce: readonly string[] } {
    const id = known?.id ?? this.#newId("dispute", "");
    // What an inquiry is about may grow until money is held.
    const amount = known && !isInquiry(known.status) ? known.amount : report.amount;
    // The debit that it disputes has come back: nothing is paid now, or an attempt that began after it was opened paid.
    const { lastAttemptAt, failedAttempts } = this.state;
    const isOlder =
      failedAttempts > 0 && lastAttemptAt !== undefined && isEarlierSecond(report.openedAt, lastAttemptAt);
    if (!this.#isPaid || (known === undefined && isOlder)) this.#released.add(id);
    const released = this.#released.has(id);
    const change = moveDispute({ id, amount }, known?.status, report.status);
    if (change.kind === "ignored") {
      this.#ignored.push(`dispute ${id}: ${change.reason}`);
      return {
        dispute: known ?? { id, connectorRef: report.ref, status: report.status, amount, released },
        announce: [],
      };
    }
    const { status, reason, openedAt, evidenceDueAt } = report;
    const moved = { id, connectorRef: report.ref, status, amount, released, reason, openedAt, evidenceDueAt };
    this.#changedDisputes.push(moved);
    if (!released) this.#movements.push(...change.movements);
    return { dispute: moved, announce: change.announce };
  }

  /**
   * What a refund that was really made can be of. While nothing is captured, it is of a debit that came back, whatever
   * other attempts did since.
   */
  get #refundable(): bigint {
    const { amount, capturedAmount, refundedAmount, failedAttempts } = this.state;
    const isBack = capturedAmount === 0n && failedAttempts > 0;
    return (isBack ? amount : capturedAmount) - refundedAmount;
  }

  get #isPaid(): boolean {
    return this.state.outcome === "succeeded";
  }

  /** Several disputes on one payment are rare: it is held by the open ones, else by the lost ones. */
  #holdFor(disputes: readonly Dispute[]): void {
    const holding = (hold: "open" | "lost") =>
      disputes.filter(({ id, status }) => !this.#released.has(id) && holdOf(status) === hold);
    const [open, lost] = [holding("open"), holding("lost")];
    const [disputeHold, deciding] = open.length > 0 ? (["open", open] as const) : (["lost", lost] as const);
    const disputedAmount = deciding.reduce((sum, dispute) => sum + dispute.amount, 0n);
    const next = { disputeHold: deciding.length > 0 ? disputeHold : ("none" as const), disputedAmount };
    const isSame = this.state.disputeHold === next.disputeHold && this.state.disputedAmount === next.disputedAmount;
    if (!isSame) this.state = { ...this.state, ...next };
  }

  #announce(type: string, attributes: Readonly<Record<string, string>> = {}): void {
    const { state } = this;
    this.#announcements.push({
      type,
      status: publicStatus(type, state),
      attributes: {
        ...attributes,
        path: this.#path,
        failed_attempts: String(state.failedAttempts),
        card_fingerprint: state.card?.fingerprint ?? "",
      },
    });
  }

  /** Every event of one change also tells where the payment stands after it: they have one version. */
  #finalAnnouncements(): readonly SettlementEvent[] {
    const { state } = this;
    const isAnnounced = this.#announcements.some(({ type }) => type.startsWith("payment."));
    // Whoever follows payments hears of each change of status; merchants have no such event.
    if (!isAnnounced && statusOf(state) !== statusOf(this.#books.state)) this.#announce("payment.updated");
    const after = {
      // The session of a payment whose debit came back, or that nobody captured, was paid, and stays completed.
      outcome: isReturned(state) || isReleased(state) ? "succeeded" : state.outcome,
      payment_status: statusOf(state),
      receipt_url: state.receiptUrl,
      captured_amount: String(state.capturedAmount),
    };
    return this.#announcements.map((one) => ({ ...one, attributes: { ...one.attributes, ...after } }));
  }
}

/** The status that an event carries (docs/contract.md §9). */
function publicStatus(type: string, state: PaymentState): string {
  if (type === "payment.succeeded") return "succeeded";
  if (type === "payment.failed") return "failed";
  return type === "payment.refunded" ? refundedStatus(state) : statusOf(state);
}

/**
 * True when the processor tells of another refund than the one that we have under this reference, or of one that we
 * gave up.
 */
function isSecond(known: Refund, report: RefundReport): boolean {
  if (report.ref === "") return false;
  return (
    known.amount !== report.amount ||
    known.connectorRef !== "" ||
    (known.status === "failed" && isCounted(report.status))
  );
}

/** Processors say in whole seconds when a dispute was opened: one of the attempt's own second is this attempt's. */
function isEarlierSecond(one: Date, other: Date): boolean {
  return Math.floor(one.getTime() / 1000) < Math.floor(other.getTime() / 1000);
}
