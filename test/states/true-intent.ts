// The true state of an intent at a processor: its next possible changes, its report, and its money. It knows nothing of
// our rules.
import type { DisputeReport, DisputeStatus } from "../../services/payments/rules/dispute.ts";
import type { IntentFact } from "../../services/payments/rules/payment.ts";
import type { RefundReport } from "../../services/payments/rules/refund.ts";
import type { ReportedIntent } from "../../services/payments/rules/unexpected-funds.ts";
import type { Random } from "../chaos/random.ts";

/** The changes that drawn histories may have. */
export interface World {
  readonly captures?: "later";
  /** More is captured than was authorized. */
  readonly overcaptures?: true;
  /** Debits are returned whole, or `refunded`: also after a refund, and the buyer may pay again. */
  readonly returns?: "whole" | "refunded";
  readonly refunds?: "made" | "also_failing";
  readonly disputes?: true;
  readonly cancellations?: true;
}

interface Try {
  readonly ref: string;
  readonly at: Date;
  status: "processing" | "failed" | "succeeded";
}

type Act = readonly [name: string, act: () => void];

const disputeMoves: Partial<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  warning_needs_response: ["warning_closed", "needs_response"],
  needs_response: ["under_review", "won", "lost"],
  under_review: ["won", "lost"],
};

export class TrueIntent {
  readonly ref: string;
  readonly #amount: bigint;
  readonly #world: World;
  readonly #random: Random;
  readonly #tries: Try[] = [];
  readonly #refunds: RefundReport[] = [];
  readonly #disputes: DisputeReport[] = [];
  #captured = 0n;
  #isCanceled = false;
  #count = 0;

  constructor(ref: string, amount: bigint, world: World, random: Random) {
    this.ref = ref;
    this.#amount = amount;
    this.#world = world;
    this.#random = random;
  }

  /** Something happens, if anything can. @returns what */
  step(at: Date): string | undefined {
    const acts = [...this.#paying(at), ...this.#capturing(), ...this.#refunding(at), ...this.#disputing(at)];
    if (acts.length === 0) return undefined;
    const [name, act] = this.#one(acts);
    act();
    return `${this.ref}: ${name}`;
  }

  /** A processor's report: everything, the newest refunds first. */
  report(): ReportedIntent {
    const facts = this.#tries.map(({ ref, at, status }): IntentFact => {
      const attempt = { ref, startedAt: at, card: undefined, verification: undefined };
      if (status === "processing") return { kind: "processing_started", attempt };
      if (status === "failed") return { kind: "attempt_failed", attempt, code: "declined", message: "", at };
      const receipt = { authorizedAt: at, capturedAt: at, authorizationCode: "", receiptUrl: "" };
      return { kind: "attempt_succeeded", attempt, capturedAmount: this.#captured, ...receipt };
    });
    if (this.#isCanceled) facts.push({ kind: "intent_canceled", at: new Date(0) });
    const about = { ref: this.ref, reference: "pay_1", amount: this.#amount, currency: "EUR" };
    return structuredClone({ ...about, facts, refunds: this.#refunds.toReversed(), disputes: this.#disputes });
  }

  /** Its money at the processor, minor units. */
  get there(): bigint {
    const refunded = this.#refunds.filter(({ status }) => status === "succeeded");
    const lost = this.#disputes.filter(({ status }) => status === "lost");
    return this.#captured - total(refunded) - total(lost);
  }

  get #paid(): Try | undefined {
    return this.#tries.find(({ status }) => status === "succeeded");
  }

  #paying(at: Date): Act[] {
    const begin = (status: Try["status"]) => {
      this.#tries.push({ ref: this.#name("at"), at, status });
      if (status === "succeeded") this.#pay();
    };
    const open = this.#tries.find(({ status }) => status === "processing");
    if (open) {
      const succeed = () => {
        open.status = "succeeded";
        this.#pay();
      };
      return [
        ["a debit succeeds", succeed],
        ["a debit fails", () => (open.status = "failed")],
      ];
    }
    if (this.#isCanceled || this.#paid) return [];
    const cancel: Act = ["canceled", () => (this.#isCanceled = true)];
    return [
      ["declined", () => begin("failed")],
      ["a debit begins", () => begin("processing")],
      ["paid", () => begin("succeeded")],
      ["paid at once", () => begin("succeeded")],
      ...(this.#world.cancellations ? [cancel] : []),
    ];
  }

  #pay(): void {
    this.#captured = this.#world.captures === "later" ? 0n : this.#amount;
  }

  #capturing(): Act[] {
    const paid = this.#paid;
    if (!paid || this.#isCanceled) return [];
    const acts: Act[] = [];
    // A refund of a debit that came back may be of more than a part that is captured afterwards: not drawn.
    const isWhole = this.#world.returns === "refunded" || this.#random.chance(0.5);
    const capture = (most: bigint) => (this.#captured = isWhole ? most : this.#upTo(most));
    if (this.#captured === 0n) acts.push(["captured", () => capture(this.#amount)]);
    if (this.#captured === 0n && this.#world.cancellations) acts.push(["released", () => (this.#isCanceled = true)]);
    if (this.#captured > 0n && this.#captured <= this.#amount && this.#world.overcaptures)
      acts.push(["captured beyond", () => (this.#captured = this.#amount + this.#upTo(300n))]);
    const { returns } = this.#world;
    const isUntouched = this.#refunds.length + this.#disputes.length === 0;
    if (this.#captured > 0n && (returns === "refunded" || (returns === "whole" && isUntouched)))
      acts.push(["a debit comes back", () => this.#comeBack(paid)]);
    return acts;
  }

  #comeBack(paid: Try): void {
    paid.status = "failed";
    this.#captured = 0n;
  }

  #refunding(at: Date): Act[] {
    const acts: Act[] = [];
    const left = this.#captured - this.#refunded - this.#disputed;
    if (this.#paid && left > 0n && this.#world.refunds) {
      const text = { reason: "", failureCode: "", failureMessage: "", reference: "" };
      const amount = this.#random.chance(0.3) ? left : this.#upTo(left);
      const status = this.#one(["pending", "succeeded"] as const);
      const refund = { ref: this.#name("rf"), ...text, amount, status, createdAt: at };
      acts.push([`refund of ${amount}`, () => this.#refunds.push(refund)]);
    }
    for (const [i, refund] of this.#refunds.entries()) {
      const becomes = (status: RefundReport["status"]) => () => this.#refunds.splice(i, 1, { ...refund, status });
      if (refund.status === "pending") acts.push(["a refund succeeds", becomes("succeeded")]);
      if (this.#world.refunds === "also_failing" && refund.status !== "failed")
        acts.push(["a refund fails", becomes("failed")]);
    }
    return acts;
  }

  /** Refunded or pending refunds. */
  get #refunded(): bigint {
    return total(this.#refunds.filter(({ status }) => status !== "failed"));
  }

  /** Held or lost by disputes, and therefore not refundable. */
  get #disputed(): bigint {
    return total(this.#disputes.filter(({ status }) => status !== "won" && status !== "warning_closed"));
  }

  #disputing(at: Date): Act[] {
    if (!this.#world.disputes) return [];
    const acts: Act[] = this.#disputes.flatMap((dispute, i) =>
      (disputeMoves[dispute.status] ?? []).map(
        (status): Act => [`dispute ${status}`, () => this.#disputes.splice(i, 1, { ...dispute, status })],
      ),
    );
    const left = this.#captured - this.#refunded;
    if (this.#disputes.length === 0 && left > 0n) {
      const amount = this.#random.chance(0.5) ? left : this.#upTo(left);
      const status = this.#one(["warning_needs_response", "needs_response", "lost"] as const);
      const dispute = { ref: this.#name("dp"), amount, status, reason: "", openedAt: at };
      acts.push([`dispute of ${amount}`, () => this.#disputes.push(dispute)]);
    }
    return acts;
  }

  #name(noun: string): string {
    this.#count += 1;
    return `${this.ref}_${noun}${this.#count}`;
  }

  #upTo(most: bigint): bigint {
    return BigInt(this.#random.int(1, Number(most)));
  }

  #one<T>(all: readonly T[]): T {
    return this.#random.pick(all.map((each) => [each, 1] as const));
  }
}

function total(list: readonly { readonly amount: bigint }[]): bigint {
  return list.reduce((sum, { amount }) => sum + amount, 0n);
}
