// The one place where a payment moves: confirm, the processor's webhook, the reconcile job and our own refunds all end here, in
// one transaction under the payment's lock. Whoever comes first moves the state; the others find it done.
import { crashPoint } from "#platform/crash-point.ts";
import type { Tx } from "#platform/database.ts";
import { Failure } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { Announcement, Outbox } from "#platform/outbox.ts";
import type { DisputeReport, IntentReport, RefundReport } from "../connectors/connector.ts";
import { type DisputeStatus, holdOf, moveDispute } from "../rules/dispute.ts";
import type { FeeSchedule } from "../rules/fee.ts";
import type { Movement } from "../rules/journal.ts";
import { type AttemptEnd, applyFact, type Path, type PaymentState, statusOf } from "../rules/payment.ts";
import { moveRefund, openingMovements } from "../rules/refund.ts";
import { disputesOf, type StoredDispute, saveDispute } from "../store/disputes.ts";
import { appendMovements } from "../store/journal.ts";
import { type LockedPayment, lockPayment, type StoredPayment, savePayment } from "../store/payments.ts";
import { insertRefund, refundsOf, type StoredRefund, saveRefund } from "../store/refunds.ts";

export interface SettleDeps {
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly patienceSeconds: number;
}

export interface Settled {
  readonly payment: StoredPayment;
  /** Why facts changed nothing, for the record. */
  readonly ignored: readonly string[];
  /** The payment's refunds, as far as the report was about them. */
  readonly refunds: readonly StoredRefund[];
}

/** The processor's intent is not the one we asked for: it is never finalized, and somebody must look. */
export class IntentMismatch extends Failure {
  constructor(what: string) {
    super("CONNECTOR_ERROR", { cause: new Error(`the processor's intent differs from the payment in its ${what}`) });
  }
}

/**
 * Folds a processor's report into the payment within the caller's transaction.
 * @throws Failure NOT_FOUND (no such payment), IntentMismatch (amount, currency, reference or intent differ).
 */
export async function settlePayment(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: IntentReport,
  path: Path,
): Promise<Settled> {
  const locked = await lockPayment(tx, paymentId);
  if (!locked) throw new Failure("NOT_FOUND");
  return await settleLocked(tx, deps, locked, report, path);
}

/** The same for a payment that the caller has locked. @throws IntentMismatch. */
export async function settleLocked(
  tx: Tx,
  deps: SettleDeps,
  locked: LockedPayment,
  report: IntentReport,
  path: Path,
): Promise<Settled> {
  assertSameIntent(locked.payment, report);
  const settling = new Settling(tx, deps, locked.payment, locked.fees, path);
  settling.applyFacts(report);
  if (report.refunds.length > 0) await settling.applyRefunds(report.refunds);
  if (report.disputes.length > 0) await settling.applyDisputes(report.disputes);
  return await settling.save(report.ref);
}

/** Folds what the processor says about one refund of ours into the payment. */
export async function settleRefund(
  tx: Tx,
  deps: SettleDeps,
  paymentId: string,
  report: RefundReport,
): Promise<Settled> {
  const locked = await lockPayment(tx, paymentId);
  if (!locked) throw new Failure("NOT_FOUND");
  const settling = new Settling(tx, deps, locked.payment, locked.fees, "reconcile");
  await settling.applyRefunds([report]);
  // An amount that was given back may make room for a refund of the dashboard that did not fit before; only the whole intent tells.
  if (report.status === "failed" || report.status === "canceled") settling.askAgain();
  return await settling.save(locked.payment.connectorRef);
}

function assertSameIntent(payment: StoredPayment, report: IntentReport): void {
  if (report.reference !== payment.id) throw new IntentMismatch("reference");
  if (report.amount !== payment.state.amount) throw new IntentMismatch("amount");
  if (report.currency !== payment.currency) throw new IntentMismatch("currency");
  if (payment.connectorRef !== "" && report.ref !== payment.connectorRef) throw new IntentMismatch("intent id");
}

class Settling {
  readonly #tx: Tx;
  readonly #deps: SettleDeps;
  readonly #payment: StoredPayment;
  readonly #fees: FeeSchedule;
  readonly #path: Path;
  #state: PaymentState;
  #refunds: StoredRefund[] = [];
  #askAgain = false;
  readonly #announcements: Announcement[] = [];
  readonly #movements: Movement[] = [];
  readonly #ended: AttemptEnd[] = [];
  readonly #ignored: string[] = [];

  constructor(tx: Tx, deps: SettleDeps, payment: StoredPayment, fees: FeeSchedule, path: Path) {
    this.#tx = tx;
    this.#deps = deps;
    this.#payment = payment;
    this.#fees = fees;
    this.#path = path;
    this.#state = payment.state;
  }

  /** Keeps the payment on the reconcile job's list whatever else is known. */
  askAgain(): void {
    this.#askAgain = true;
  }

  applyFacts(report: IntentReport): void {
    for (const fact of report.facts) {
      const change = applyFact(this.#state, fact, this.#path, this.#fees);
      this.#state = change.state;
      this.#movements.push(...change.movements);
      this.#ended.push(...change.ended);
      for (const type of change.announce) this.#announce(type);
      if (change.ignored !== undefined) this.#ignored.push(`${fact.kind}: ${change.ignored}`);
    }
  }

  async applyRefunds(reports: readonly RefundReport[]): Promise<void> {
    const known = await refundsOf(this.#tx, this.#payment.id);
    for (const report of reports) {
      const refund = known.find(
        (r) => r.id === report.reference || (report.ref !== "" && r.connectorRef === report.ref),
      );
      if (refund) known[known.indexOf(refund)] = await this.#moveRefund(refund, report);
      else known.push(...(await this.#importRefund(report)));
    }
    this.#refunds = known;
  }

  async applyDisputes(reports: readonly DisputeReport[]): Promise<void> {
    const known = await disputesOf(this.#tx, this.#payment.id);
    for (const report of reports) {
      const dispute = known.find((d) => d.connectorRef === report.ref);
      const changed = await this.#moveDispute(dispute, report);
      if (changed && dispute) known[known.indexOf(dispute)] = changed;
      else if (changed) known.push(changed);
    }
    this.#holdFor(known);
  }

  /** Writes everything that changed; nothing is written when nothing did. */
  async save(connectorRef: string): Promise<Settled> {
    const { id } = this.#payment;
    const { outcome } = this.#state;
    // Without a session nobody tries again after a decline.
    const ended = ["succeeded", "canceled", ...(this.#payment.sessionId === "" ? ["failed"] : [])].includes(outcome);
    const settled = ended && !this.#askAgain && !this.#refunds.some((refund) => refund.status === "pending");
    const isNews = this.#state !== this.#payment.state || this.#payment.connectorRef === "";
    if (isNews || this.#payment.scheduled === settled) {
      const checkAfterSeconds = settled ? undefined : this.#deps.patienceSeconds;
      await savePayment(this.#tx, { id, connectorRef, state: this.#state, checkAfterSeconds }, this.#ended);
    }
    await appendMovements(this.#tx, this.#payment, this.#movements, this.#deps.outbox.rows(this.#announcements));
    crashPoint("settle-payment.before-commit");
    const payment: StoredPayment = {
      ...this.#payment,
      connectorRef: this.#payment.connectorRef || connectorRef,
      state: this.#state,
      status: statusOf(this.#state),
    };
    return { payment, ignored: this.#ignored, refunds: this.#refunds };
  }

  async #moveRefund(refund: StoredRefund, report: RefundReport): Promise<StoredRefund> {
    const change = moveRefund(refund, report.status);
    if (change.kind === "ignored" && refund.acknowledged && refund.connectorRef !== "") {
      this.#ignored.push(`refund ${refund.id}: ${change.reason}`);
      return refund;
    }
    const moved = change.kind === "moved";
    const next: StoredRefund = {
      ...refund,
      connectorRef: refund.connectorRef || report.ref,
      status: moved ? change.status : refund.status,
      failureCode: moved ? report.failureCode : refund.failureCode,
      failureMessage: moved ? report.failureMessage : refund.failureMessage,
      acknowledged: true,
    };
    if (moved) {
      this.#movements.push(...change.movements);
      if (change.givenBack > 0n) this.#addRefunded(-change.givenBack);
    }
    await saveRefund(this.#tx, next, !refund.acknowledged);
    this.#announceRefund(refund, next);
    return next;
  }

  /** A refund made at the processor's own dashboard. @returns it, or none while it does not fit. */
  async #importRefund(report: RefundReport): Promise<StoredRefund[]> {
    const counts = report.status === "pending" || report.status === "succeeded";
    if (counts && report.amount > this.#state.capturedAmount - this.#state.refundedAmount) {
      // A refund of ours that the processor never got holds the amount; the reconcile job settles that one first.
      this.#askAgain = true;
      this.#ignored.push(`refund ${report.ref}: more than what is left; taken in when it fits`);
      return [];
    }
    const { id, merchantId, environment, currency, connector } = this.#payment;
    const refund: StoredRefund = {
      id: newId("refund"),
      paymentId: id,
      merchantId,
      environment,
      currency,
      connector,
      amount: report.amount,
      status: report.status,
      connectorRef: report.ref,
      reason: report.reason.slice(0, 255),
      failureCode: report.failureCode,
      failureMessage: report.failureMessage,
      acknowledged: true,
      createdAt: report.createdAt,
    };
    await insertRefund(this.#tx, refund);
    this.#movements.push(...openingMovements(refund));
    if (counts) this.#addRefunded(refund.amount);
    this.#announceRefund({ ...refund, acknowledged: false, status: "pending" }, refund);
    return [refund];
  }

  /** payment.refunded when a refund is created (acknowledged) or settles; a failure is internal (SPEC.md §6). */
  #announceRefund(before: StoredRefund, after: StoredRefund): void {
    const attributes = { refund_id: after.id, refund_status: after.status };
    const failed = after.status === "failed" || after.status === "canceled";
    if (failed && before.status !== after.status) this.#announce("payment.refund_failed", attributes);
    else if (!failed && (!before.acknowledged || before.status !== after.status)) {
      this.#announce("payment.refunded", attributes);
    }
  }

  async #moveDispute(known: StoredDispute | undefined, report: DisputeReport): Promise<StoredDispute | undefined> {
    const id = known?.id ?? newId("dispute");
    // What was held is what is released: the amount of the first report stays.
    const amount = known?.amount ?? report.amount;
    const change = moveDispute({ id, amount }, known?.status, report.status);
    if (change.kind === "ignored") {
      this.#ignored.push(`dispute ${id}: ${change.reason}`);
      return undefined;
    }
    const { id: paymentId, connector } = this.#payment;
    const dispute = { id, connectorRef: report.ref, status: report.status, amount };
    const { reason, openedAt, evidenceDueAt } = report;
    await saveDispute(this.#tx, { ...dispute, paymentId, connector, reason, openedAt, evidenceDueAt });
    this.#movements.push(...change.movements);
    this.#hold(change.hold, change.hold === "none" ? 0n : amount);
    for (const type of change.announce) this.#announce(type, { dispute_id: id, dispute_status: report.status });
    return dispute;
  }

  /** Several disputes on one payment are rare; the one that holds most decides. */
  #holdFor(disputes: readonly { status: DisputeStatus; amount: bigint }[]): void {
    const holding = (hold: "open" | "lost") => disputes.filter((d) => holdOf(d.status) === hold);
    const [open, lost] = [holding("open"), holding("lost")];
    const deciding = open.length > 0 ? open : lost;
    const amount = deciding.reduce((sum, d) => sum + d.amount, 0n);
    this.#hold(open.length > 0 ? "open" : lost.length > 0 ? "lost" : "none", amount);
  }

  #hold(disputeHold: PaymentState["disputeHold"], disputedAmount: bigint): void {
    if (this.#state.disputeHold === disputeHold && this.#state.disputedAmount === disputedAmount) return;
    this.#state = { ...this.#state, disputeHold, disputedAmount };
  }

  #addRefunded(amount: bigint): void {
    this.#state = { ...this.#state, refundedAmount: this.#state.refundedAmount + amount };
  }

  #announce(type: string, attributes: Readonly<Record<string, string>> = {}): void {
    const { id, merchantId, environment, sessionId } = this.#payment;
    this.#announcements.push({
      type,
      merchantId,
      environment,
      objectId: id,
      status: type === "payment.succeeded" ? "succeeded" : type === "payment.failed" ? "failed" : statusOf(this.#state),
      at: new Date(),
      attributes: {
        ...attributes,
        session_id: sessionId,
        path: this.#path,
        outcome: this.#state.outcome,
        receipt_url: this.#state.receiptUrl,
        failed_attempts: String(this.#state.failedAttempts),
        card_fingerprint: this.#state.card?.fingerprint ?? "",
      },
    });
  }
}
