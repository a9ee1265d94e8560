// The balance of one account of the fake Stripe: every change with Stripe's fee, in the account's own currency, and
// its payouts.
import { type FakeMovement, type FakePayout, type Json, StripeRecords } from "./stripe-records.ts";

const rate = 0.74; // of every other currency to the account's own
const settlementSeconds = 172_800;
const fees: Readonly<Record<string, (amount: number) => number>> = {
  charge: (amount) => Math.round(amount * 0.015) + 25,
  withdrawal: () => 1_500,
};

export class StripeBalance extends StripeRecords {
  /**
   * One that no buyer uses, as for an account abroad: a test that takes a change's amount for its source's then fails.
   */
  balanceCurrency = "chf";
  readonly payouts = new Map<string, FakePayout>();
  readonly #payoutOf = new Map<string, string>();

  /** Records a balance change. @param amount before it is converted @returns the balance transaction's id */
  moveBalance(type: string, source: string | null, amount: number, currency = this.balanceCurrency): string {
    const id = this.newId("txn");
    const created = this.now();
    const isConverted = currency !== this.balanceCurrency;
    const moved = Math.round(isConverted ? amount * rate : amount);
    const fee = fees[type === "adjustment" && amount < 0 ? "withdrawal" : type]?.(moved) ?? 0;
    this.movements.push({
      id,
      object: "balance_transaction",
      balance_type: "payments",
      created,
      available_on: created + (type === "charge" ? settlementSeconds : 0),
      type,
      source,
      amount: moved,
      fee,
      net: moved - fee,
      currency: this.balanceCurrency,
      exchange_rate: isConverted ? rate : null,
    });
    return id;
  }

  /**
   * A payout by Stripe's schedule of all that is in none yet, or one that the merchant asks for. @param amount of the
   * latter
   */
  payOut(amount?: number): FakePayout {
    const isAutomatic = amount === undefined;
    const lines = this.movements.filter(({ id, type }) => isAutomatic && type !== "payout" && !this.#payoutOf.has(id));
    const payout: FakePayout = {
      id: this.newId("po"),
      object: "payout",
      amount: amount ?? lines.reduce((sum, { net }) => sum + net, 0),
      currency: this.balanceCurrency,
      automatic: isAutomatic,
      created: this.now(),
      arrival_date: this.now() + settlementSeconds,
      failure_code: null,
      failure_message: null,
      reconciliation_status: isAutomatic ? "in_progress" : "not_applicable",
      statement_descriptor: "STRIPE PAYOUT",
      status: "pending",
    };
    this.payouts.set(payout.id, payout);
    for (const { id } of lines) this.#payoutOf.set(id, payout.id);
    this.#payoutOf.set(this.moveBalance("payout", payout.id, -payout.amount), payout.id);
    return payout;
  }

  /** The bank has it, or it comes back. */
  movePayout(id: string, status: "in_transit" | "paid" | "failed" | "canceled"): void {
    const payout = this.payouts.get(id);
    if (!payout) throw new Error("no such payout");
    payout.status = status;
    if (status === "failed") payout.failure_message = "The bank account has been closed.";
    if (status === "canceled" || status === "failed")
      this.moveBalance(status === "failed" ? "payout_failure" : "payout_cancel", id, payout.amount);
  }

  /** Stripe has assigned the payout's balance transactions. */
  reconcile(id: string): void {
    const payout = this.payouts.get(id);
    if (payout) payout.reconciliation_status = "completed";
  }

  /** With the payout's own. */
  linesOf(payout: unknown): readonly FakeMovement[] {
    return this.movements.filter(({ id }) => this.#payoutOf.get(id) === payout);
  }

  balance(): Json {
    const sumOf = (isPart: (movement: FakeMovement) => boolean) => [
      {
        currency: this.balanceCurrency,
        amount: this.movements.reduce((sum, each) => sum + (isPart(each) ? each.net : 0), 0),
      },
    ];
    const isAvailable = ({ available_on: at }: FakeMovement) => at <= this.now();
    return { object: "balance", available: sumOf(isAvailable), pending: sumOf((each) => !isAvailable(each)) };
  }
}
