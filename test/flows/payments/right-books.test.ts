// Random histories of a payment at its processor, reported completely or with gaps, under changing fee schedules: the
// books must satisfy the auditor, and the fee an independent calculation.
import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { Failure } from "#platform/values/failure.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { booksDifferences, type PaymentBooks } from "../../../services/payments/audit/books.ts";
import { booksAfter } from "../../../services/payments/audit/read-books.ts";
import type { IntentReport } from "../../../services/payments/connectors/connector.ts";
import { refundPayment } from "../../../services/payments/flows/refunds/refund-payment.ts";
import type { DisputeReport } from "../../../services/payments/rules/dispute.ts";
import type { CaptureMethod, IntentFact } from "../../../services/payments/rules/payment.ts";
import type { RefundReport } from "../../../services/payments/rules/refund.ts";
import { findRecord } from "../../../services/payments/store/payment-records.ts";
import { feeOf, type Schedule } from "../../chaos/expected-money.ts";
import { Random } from "../../chaos/random.ts";
import { suite } from "../../harness/suite.ts";
import { capturedFact, noAnswer, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("right books", { timeoutMs: 60_000 });
/** RIGHT_BOOKS=1000 runs more cases; RIGHT_BOOKS=1,4711 runs one with that seed. */
const [cases = 60, firstSeed = 1] = (process.env.RIGHT_BOOKS ?? "").split(",").filter(Boolean).map(Number);
const begin = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const amount = 1_000n;

const played = playedPayments(test);
const schedules = drawSchedules(new Random(7));
test.before(async () => {
  await played.db.transaction(async (tx) => {
    // The database refuses schedules that begin in the past.
    await tx.rows("set local session_replication_role = replica");
    for (const { merchant, currency, connector, from, basisPoints, fixed } of schedules) {
      const row = [merchant, currency, connector, from, basisPoints, fixed];
      await tx.rows("insert into fee_schedules values ($1, $2, $3, to_timestamp($4), $5, $6)", row);
    }
  });
});

function drawSchedules(random: Random): Schedule[] {
  const either = (own: string) => (random.chance(0.5) ? own : "*");
  return Array.from({ length: 30 }, (_, i) => ({
    merchant: either(owner.merchantId),
    currency: either("EUR"),
    connector: either("simulator"),
    from: begin / 1_000 + i * 7_200,
    basisPoints: random.int(0, 9) * 100,
    fixed: random.int(0, 40),
  }));
}

/** The processor's own state of a payment. */
class TruePayment {
  readonly #random: Random;
  readonly #method: CaptureMethod;
  readonly #attempts: { readonly ref: string; readonly at: Date; isPaid: boolean }[] = [];
  readonly #refunds: RefundReport[] = [];
  readonly #disputes: DisputeReport[] = [];
  capturedAmount = 0n;
  capturedAt: Date | undefined;
  #count = 0;

  constructor(method: CaptureMethod, random: Random) {
    this.#method = method;
    this.#random = random;
  }

  get paidBy(): string {
    return this.#attempts.find(({ isPaid }) => isPaid)?.ref ?? "";
  }

  step(at: Date): string {
    const acts = this.#acts(at);
    const [name, act] = this.#random.pick(acts.map((one) => [one, 1] as const));
    act();
    return name;
  }

  report(paymentId: string): Partial<IntentReport> {
    const facts = this.#attempts.map(({ ref, at, isPaid }): IntentFact => {
      const attempt = { ref: `${paymentId}${ref}`, startedAt: at, card: undefined, verification: undefined };
      if (!isPaid) return { kind: "attempt_failed", attempt, code: "declined", message: "", at };
      const took = { capturedAmount: this.capturedAmount, authorizedAt: at, capturedAt: this.capturedAt };
      return { ...capturedFact(), attempt, ...took };
    });
    const named = <T extends { readonly ref: string }>(all: readonly T[]) =>
      all.map((one) => ({ ...one, ref: `${paymentId}${one.ref}` }));
    return { facts, refunds: named(this.#refunds), disputes: named(this.#disputes) };
  }

  #acts(at: Date): (readonly [string, () => void])[] {
    const paid = this.#attempts.find(({ isPaid }) => isPaid);
    if (!paid) {
      const attempt = { ref: this.#name("at"), at };
      return [
        ["declined", () => this.#attempts.push({ ...attempt, isPaid: false })],
        ["paid", () => this.#pay({ ...attempt, isPaid: true })],
        ["paid by another card", () => this.#pay({ ...attempt, isPaid: true })],
      ];
    }
    const gone = [...this.#refunds.filter(({ status }) => status !== "failed"), ...this.#holding()];
    const left = this.capturedAmount - gone.reduce((sum, one) => sum + one.amount, 0n);
    const some = BigInt(this.#random.int(1, Math.max(1, Number(left))));
    const words = { reference: "", reason: "", failureCode: "", failureMessage: "", createdAt: at };
    const refund = { ...words, ref: this.#name("rf"), amount: some, status: "succeeded" } as const;
    const dispute = {
      ref: this.#name("dp"),
      amount: some,
      status: "needs_response",
      reason: "",
      openedAt: at,
    } as const;
    const acts: (readonly [string, () => void])[] = [["nothing", () => undefined]];
    if (left > 0n)
      acts.push(["refunded", () => this.#refunds.push(refund)], ["all refunded", () => this.#all(refund, left)]);
    if (left > 0n && this.#disputes.length < 2) acts.push(["disputed", () => this.#disputes.push(dispute)]);
    if (this.#method === "manual" && this.capturedAmount < amount) acts.push(["captured", () => this.#capture(at)]);
    const isLost = this.#disputes.some(({ status }) => status === "lost");
    if (this.capturedAmount > 0n && !isLost) acts.push(["came back", () => this.#comeBack(paid)]);
    for (const [i, one] of this.#refunds.entries())
      if (one.status !== "failed")
        acts.push(["a refund failed", () => this.#refunds.splice(i, 1, { ...one, status: "failed" })]);
    for (const [i, one] of this.#disputes.entries())
      for (const status of one.status === "needs_response" ? (["won", "lost"] as const) : [])
        acts.push([status, () => this.#disputes.splice(i, 1, { ...one, status })]);
    return acts;
  }

  #holding(): readonly DisputeReport[] {
    return this.#disputes.filter(({ status }) => status !== "won");
  }

  #all(refund: RefundReport, left: bigint): void {
    this.#refunds.push({ ...refund, amount: left });
  }

  #pay(attempt: { readonly ref: string; readonly at: Date; isPaid: boolean }): void {
    this.#attempts.push(attempt);
    if (this.#method === "automatic") [this.capturedAmount, this.capturedAt] = [amount, attempt.at];
  }

  #capture(at: Date): void {
    this.capturedAmount += BigInt(this.#random.int(1, Number(amount - this.capturedAmount)));
    // Some processors report only the time of the first capture.
    if (!this.capturedAt || this.#random.chance(0.7)) this.capturedAt = at;
  }

  #comeBack(paid: { isPaid: boolean }): void {
    paid.isPaid = false;
    [this.capturedAmount, this.capturedAt] = [0n, undefined];
    // The disputed money was returned with the debit.
    this.#disputes.length = 0;
  }

  #name(noun: string): string {
    this.#count += 1;
    return `_${noun}${this.#count}`;
  }
}

/** The fee of the reported captures. */
class ExpectedFee {
  #attempt = "";
  #captured = 0n;
  #firstAt: Date | undefined;
  #fee = 0;

  feeAfter({ paidBy, capturedAmount, capturedAt }: TruePayment): number {
    if (paidBy !== this.#attempt)
      [this.#attempt, this.#captured, this.#firstAt, this.#fee] = [paidBy, 0n, undefined, 0];
    if (capturedAmount > this.#captured && capturedAt) {
      const isLater = this.#firstAt === undefined || capturedAt > this.#firstAt;
      const at = isLater ? capturedAt.getTime() / 1_000 : Number.POSITIVE_INFINITY;
      const feeUpTo = (sum: bigint) =>
        feeOf(Number(sum), { merchant: owner.merchantId, currency: "EUR", connector: "simulator" }, at, schedules);
      this.#fee += feeUpTo(capturedAmount) - feeUpTo(this.#captured);
      [this.#captured, this.#firstAt] = [capturedAmount, this.#firstAt ?? capturedAt];
    }
    return this.#fee;
  }
}

async function booksOf(paymentId: string) {
  const [books] = await booksAfter(played.db, paymentId.slice(0, -1), 1);
  return books?.id === paymentId ? books : assert.fail("no books");
}

/** The status in the event with the highest version. */
async function announcedStatus(paymentId: string, after: string): Promise<string> {
  const rows = await played.db.rows<{ body: Buffer }>("select body from outbox where seq > $1 order by seq", [after]);
  const events = rows.map(({ body }) => fromBinary(EventSchema, body)).filter(({ objectId }) => objectId === paymentId);
  const newest = events.toSorted((a, b) => Number(a.attributes.version) - Number(b.attributes.version)).at(-1);
  return newest?.attributes.payment_status ?? "pending";
}

async function newestEvent(): Promise<string> {
  const [row] = await played.db.rows<{ seq: string }>("select coalesce(max(seq), 0)::text as seq from outbox");
  return row?.seq ?? "0";
}

/** Differences between the books and what events and records show. */
async function seenDifferences(paymentId: string, eventsAfter: string, { status, disputeHold }: PaymentBooks) {
  const announced = await announcedStatus(paymentId, eventsAfter);
  const shown = (await findRecord(played.db, owner, paymentId))?.dispute?.status ?? "";
  const holding: Partial<Record<string, readonly string[]>> = { open: ["needs_response"], lost: ["lost"] };
  return [
    ...(announced === status ? [] : [`the payment is ${status}, announced was ${announced}`]),
    ...(holding[disputeHold]?.includes(shown) === false ? [`${disputeHold} holds it, the record shows ${shown}`] : []),
  ];
}

/** Requests a refund that the processor declines or does not answer. */
async function askRefund(paymentId: string, random: Random): Promise<string> {
  const declined = { kind: "declined", code: "refused", message: "" } as const;
  const answer = random.chance(0.5) ? declined : noAnswer;
  played.answers.createRefund = () => answer;
  const input = { paymentId, amount: BigInt(random.int(1, 400)), reason: "", idempotency: undefined };
  const isRefused = (error: unknown) =>
    error instanceof Failure && /^(NOT_REFUNDABLE|AMOUNT_TOO_LARGE)$/.test(error.reason);
  await refundPayment(played.deps, { ...owner, ...input }).catch((error) => assert.ok(isRefused(error), String(error)));
  return `we refund ${input.amount}: ${answer.kind}`;
}

async function differencesOf(seed: number): Promise<string> {
  const random = new Random(seed);
  const method = random.chance(0.6) ? "manual" : "automatic";
  const paymentId = await played.payment({ captureMethod: method });
  const [truth, fee] = [new TruePayment(method, random), new ExpectedFee()];
  const log: string[] = [];
  const eventsAfter = await newestEvent();
  for (let step = random.int(3, 12), hour = random.int(0, 50); step > 0; step--) {
    hour += random.int(1, 6);
    log.push(`hour ${hour}: ${truth.step(new Date(begin + hour * hourMs))}`);
    if (random.chance(0.3)) continue;
    await played.settleReport(paymentId, truth.report(paymentId));
    if (random.chance(0.2)) log.push(await reportForeignIntent(paymentId, random));
    if (random.chance(0.2)) log.push(await askRefund(paymentId, random));
    const books = await booksOf(paymentId);
    const must = fee.feeAfter(truth);
    const wrong = [
      ...booksDifferences(books),
      ...(await seenDifferences(paymentId, eventsAfter, books)),
      ...(Number(books.feeAmount) === must ? [] : [`the fee is ${books.feeAmount}, it must be ${must}`]),
      ...(books.capturedAmount === truth.capturedAmount ? [] : [`${books.capturedAmount} are booked as captured`]),
    ];
    if (wrong.length > 0) return [`seed ${seed}: ${wrong.join("; ")}`, ...log].join("\n  ");
  }
  return "";
}

/** Another intent with the payment's reference, mostly in another currency, partly refunded. */
async function reportForeignIntent(paymentId: Id<"payment">, random: Random): Promise<string> {
  const currency = random.pick([["USD", 3] as const, ["EUR", 1] as const]);
  const ref = `pi_other_${paymentId}`;
  const attempt = { ref: `${ref}_at`, startedAt: new Date(begin), card: undefined, verification: undefined };
  const back = BigInt(random.int(0, 500));
  const words = { reference: "", reason: "", failureCode: "", failureMessage: "", createdAt: new Date(begin) };
  const refund = { ...words, ref: newId("operation"), amount: back, status: "succeeded" } as const;
  const facts = [{ ...capturedFact(500n), attempt }];
  await played.settleReport(
    paymentId,
    reportOf(paymentId, { ref, currency, amount: 500n, facts, refunds: back > 0n ? [refund] : [] }),
  );
  return `another intent: 500 ${currency}, of which ${back} went back`;
}

test("after random histories the books pass the audit, each capture has its fee, and the status was announced", async () => {
  for (let seed = firstSeed; seed < firstSeed + cases; seed++) assert.equal(await differencesOf(seed), "");
});

test.run();
