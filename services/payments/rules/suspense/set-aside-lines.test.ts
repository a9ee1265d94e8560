// Right books of an intent that is set aside say the same as the processor's statement, and wrong ones do not.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { ReportedIntent } from "../part-report.ts";
import type { IntentFact } from "../payment.ts";
import type { OurLine } from "../statement.ts";
import type { KnownItem } from "../suspense.ts";
import { capturedLine, setAsideLines } from "./set-aside-lines.ts";

const test = suite("lines of what is set aside");
const at = new Date("2026-01-01T12:00:00Z");
const attempt = { ref: "at_1", startedAt: at, card: undefined, verification: undefined };
const ref = "pi_1";

function paid(capturedAmount: bigint): IntentFact {
  const times = { authorizedAt: at, capturedAt: at, authorizationCode: "", receiptUrl: "" };
  return { kind: "attempt_succeeded", attempt, capturedAmount, ...times };
}
const failed: IntentFact = { kind: "attempt_failed", attempt, code: "returned", message: "", at };

function report(facts: readonly IntentFact[], change: Partial<ReportedIntent> = {}): ReportedIntent {
  return { ref, reference: "pay_1", amount: 1_000n, currency: "EUR", facts, refunds: [], disputes: [], ...change };
}
const refund = (amount: bigint, status: "succeeded" | "pending" | "failed" = "succeeded", reference = "") => {
  return {
    ref: `rf_${amount}`,
    reference,
    amount,
    status,
    reason: "",
    failureCode: "",
    failureMessage: "",
    createdAt: at,
  };
};
const dispute = (amount: bigint, status: "lost" | "won") => {
  return { ref: `dp_${amount}`, amount, status, reason: "fraudulent", openedAt: at } as const;
};

function item(amount: bigint, returned: bigint, change: Partial<KnownItem> = {}): KnownItem {
  const end = amount === returned ? ({ state: "closed", resolution: "given_back" } as const) : openItem;
  const about = { id: "su_1", kind: "second_charge", paymentId: "pay_1", currency: "EUR" } as const;
  return { ...about, ...end, amount, returned, paidBy: "at_1", kept: 0n, ...change };
}
const openItem = { state: "open", resolution: "" } as const;

const ownLine = { object: "payment", ref, paymentId: "pay_1", amount: 1_000n, currency: "EUR", status: "" } as const;

const bookedLine = (object: "refund" | "dispute", amount: bigint, name = ""): OurLine => {
  const named = name || `${object === "refund" ? "rf" : "dp"}_${amount}`;
  const status = object === "refund" ? "succeeded" : "lost";
  return { object, ref: named, paymentId: "pay_1", amount, currency: "EUR", status };
};

/** What our line says beside what theirs says, and the refunds and disputes that are none of the payment's. */
function said(one: KnownItem, told: ReportedIntent, { own = false, booked = [] as OurLine[] } = {}) {
  const books = { ref, items: [one], own: own ? ownLine : undefined, booked } as const;
  const [line, ...parts] = setAsideLines(books, told);
  return [
    line.amount,
    capturedLine(told).amount,
    parts.map((part) => `${part.ref} ${part.amount} ${part.status}`).join(", "),
  ];
}

test("a second charge is what it holds and what went back of it, by refund or by dispute", () => {
  assert.deepEqual(said(item(1_000n, 0n), report([paid(1_000n)])), [1_000n, 1_000n, ""]);
  const back = report([paid(1_000n)], { refunds: [refund(300n)], disputes: [dispute(700n, "lost")] });
  assert.deepEqual(said(item(1_000n, 1_000n), back), [1_000n, 1_000n, "rf_300 300 succeeded, dp_700 700 lost"]);
});

test("what is on its way back, failed or won has given nothing back", () => {
  const refunds = [refund(300n, "pending"), refund(400n, "failed")];
  const told = report([paid(1_000n)], { refunds, disputes: [dispute(500n, "won")] });
  const [ours, theirs] = said(item(1_000n, 0n), told);
  assert.deepEqual([ours, theirs], [1_000n, 1_000n]);
});

test("a debit that came back has taken nothing on both sides", () => {
  assert.deepEqual(said(item(1_000n, 1_000n), report([paid(1_000n), failed])), [0n, 0n, ""]);
  assert.deepEqual(said(item(1_000n, 1_000n), report([failed])), [0n, 0n, ""]);
});

const over = (held: bigint) => item(200n, 200n - held, { kind: "other_amount", kept: 1_000n });
const anItem = newId("suspense");

test("beside the payment's own capture what was refunded in the item's name is the item's, by whichever try", () => {
  const refunds = [refund(150n, "succeeded", anItem), refund(50n, "succeeded", `${anItem}.2`), refund(100n)];
  const told = report([paid(1_200n)], { refunds, disputes: [dispute(70n, "lost")] });
  const booked = [bookedLine("refund", 100n), bookedLine("dispute", 70n)];
  const parts = "rf_150 150 succeeded, rf_50 50 succeeded";
  assert.deepEqual(said({ ...over(0n), id: anItem }, told, { own: true, booked }), [1_200n, 1_200n, parts]);
  assert.deepEqual(said(over(200n), told, { own: true, booked })[0], 1_200n, "another item's name is not this one's");
});

test("a refund or a dispute of more than the payment has is one line, of which a part is the payment's", () => {
  const all = report([paid(1_200n)], { refunds: [refund(1_200n)] });
  const part = bookedLine("refund", 1_000n, "rf_1200");
  const right = [1_200n, 1_200n, "rf_1200 1200 succeeded"];
  assert.deepEqual(said(over(0n), all, { own: true, booked: [part] }), right);
  assert.deepEqual(
    said(over(0n), all, { own: true, booked: [{ ...part, amount: 900n }] })[2],
    "rf_1200 1100 succeeded",
  );
  const lost = report([paid(1_200n)], { disputes: [dispute(1_200n, "lost")] });
  const booked = [{ ...bookedLine("dispute", 1_000n, "dp_1200"), status: "needs_response" }];
  assert.deepEqual(said(over(0n), lost, { own: true, booked }), [1_200n, 1_200n, "dp_1200 1200 needs_response"]);
});

test("an attempt that failed after another one had paid takes nothing of that away", () => {
  const second = { ...paid(800n), attempt: { ...attempt, ref: "at_2" } } as IntentFact;
  const late = { ...failed, attempt: { ...attempt, ref: "at_2" } } as IntentFact;
  assert.equal(capturedLine(report([paid(1_000n), second, late])).amount, 1_000n);
});

test("a refund that is booked as the payment's is not the item's", () => {
  const told = report([paid(1_000n)], { refunds: [refund(300n)] });
  assert.deepEqual(said(item(1_000n, 0n), told, { booked: [bookedLine("refund", 300n)] }), [1_000n, 1_000n, ""]);
});

test("a give-back that the processor never made, and one that we never heard of, differ", () => {
  assert.deepEqual(said(item(1_000n, 1_000n), report([paid(1_000n)])), [0n, 1_000n, ""]);
  const told = report([paid(1_000n)], { refunds: [refund(1_000n)] });
  assert.deepEqual(said(item(1_000n, 0n), told).slice(0, 2), [2_000n, 1_000n]);
});

test("a refund in the item's name is the payment's once its books have it: the intent turned out to be its own", () => {
  const told = report([paid(1_000n)], { refunds: [refund(900n, "succeeded", anItem)] });
  const found = item(0n, 0n, { id: anItem, kind: "other_amount", state: "closed", resolution: "found", kept: 1_000n });
  const booked = [bookedLine("refund", 900n)];
  assert.deepEqual(said(found, told, { own: true, booked }), [1_000n, 1_000n, ""]);
});

test("what a person took is the payment's, and held no longer", () => {
  const taken = item(900n, 0n, { kind: "other_amount", state: "closed", resolution: "taken" });
  const [line] = setAsideLines({ ref, items: [taken], own: { ...ownLine, amount: 900n }, booked: [] }, undefined);
  assert.equal(line.amount, 900n);
});

test("an intent that its processor does not know has what we hold of it", () => {
  const [line, ...parts] = setAsideLines({ ref, items: [item(1_000n, 300n)], own: undefined, booked: [] }, undefined);
  assert.deepEqual([line.amount, parts], [700n, []]);
});

test.run();
