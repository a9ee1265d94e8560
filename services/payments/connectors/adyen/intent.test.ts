// The fold of Adyen's notices: one report, whatever their order and repeats, and no payment counted twice or lost.
import assert from "node:assert/strict";
import { Random } from "../../../../test/chaos/random.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { Notice } from "../notice-log.ts";
import { foldIntent, intentRefOf } from "./intent.ts";

const test = suite("notices of Adyen");
const payment = "pay_01m8mak431b3x9v28f056e7314";
const page = notice("link", "PL1", 0, { amount: 1_050, currency: "EUR", manual: false });
const manualPage = notice("link", "PL1", 0, { amount: 1_050, currency: "EUR", manual: true });
const money = { amount: 1_050, currency: "EUR" };

function notice(
  kind: string,
  ref: string,
  second: number,
  details: Notice["details"],
  { originalRef = "", reference = payment }: { originalRef?: string; reference?: string } = {},
): Notice {
  const at = new Date(1_800_000_000_000 + second * 1_000);
  return { id: `${kind} ${ref} ${second}`, kind, ref, originalRef, reference, at, details };
}

const paid = (ref: string, second: number) => notice("AUTHORISATION", ref, second, { ...money, success: true });
const refused = (ref: string, second: number) =>
  notice("AUTHORISATION", ref, second, { ...money, success: false, reason: "Refused" });
const change = (kind: string, ref: string, originalRef: string, second: number, details: Notice["details"]) =>
  notice(kind, ref, second, details, { originalRef, reference: "re_1" });

/** Kinds of the facts with the captured amounts. */
function factsOf(ref: string, notices: readonly Notice[]) {
  return foldIntent(ref, notices)?.facts.map((fact) =>
    fact.kind === "attempt_succeeded" ? fact.capturedAmount : fact.kind,
  );
}

test("every order of the notices, with repeats, makes the same report", () => {
  const all = [
    refused("A1", 1),
    paid("A2", 2),
    change("CAPTURE", "C1", "A2", 3, { ...money, amount: 800, success: true }),
    change("REFUND", "R1", "A2", 4, { ...money, amount: 300, success: true }),
    change("REFUND_FAILED", "R1", "A2", 5, { ...money, amount: 300, success: true }),
    change("REFUND", "R2", "A2", 6, { ...money, amount: 100, success: true }),
    change("CHARGEBACK", "D1", "A2", 7, { ...money, amount: 400, success: true, disputeStatus: "Undefended" }),
    change("SECOND_CHARGEBACK", "D1", "A2", 8, { ...money, amount: 400, success: true, disputeStatus: "Lost" }),
  ];
  const report = (notices: readonly Notice[]) => {
    const folded = foldIntent("PL1", [manualPage, ...notices]);
    const byRef = (a: { ref: string }, b: { ref: string }) => a.ref.localeCompare(b.ref);
    return folded && { ...folded, refunds: folded.refunds.toSorted(byRef) };
  };
  const expected = report(all);
  assert.deepEqual(factsOf("PL1", [manualPage, ...all]), ["attempt_failed", 800n]);
  assert.deepEqual(
    expected?.refunds.map(({ ref, status }) => [ref, status]),
    [
      ["R1", "failed"],
      ["R2", "succeeded"],
    ],
  );
  assert.deepEqual(
    expected.disputes.map(({ status }) => status),
    ["lost"],
  );
  const random = new Random(7);
  for (let i = 0; i < 200; i++) {
    const drawn = [...all, ...all].map((each) => ({ each, at: random.next() }));
    const shuffled = drawn.toSorted((a, b) => a.at - b.at).map(({ each }) => each);
    assert.deepEqual(report(shuffled), expected, shuffled.map(({ id }) => id).join(", "));
  }
});

test("an automatic capture comes with the authorization, and a CAPTURE that repeats it adds nothing", () => {
  const captured = change("CAPTURE", "C1", "A1", 2, { ...money, success: true });
  assert.deepEqual(factsOf("PL1", [page, paid("A1", 1), captured]), [1_050n]);
});

test("a capture that fails later takes the money back, and one that is repeated brings it again", () => {
  const failed = change("CAPTURE_FAILED", "C1", "A1", 3, { ...money, success: true, reason: "Insufficient balance" });
  const again = change("CAPTURE", "C2", "A1", 4, { ...money, success: true, reason: "Transaction Recaptured" });
  for (const [made, captures] of [
    [page, []],
    [manualPage, [change("CAPTURE", "C1", "A1", 2, { ...money, success: true })]],
  ] as const) {
    const notices = [made, paid("A1", 1), ...captures, failed];
    assert.deepEqual(factsOf("PL1", notices), [1_050n, "attempt_failed"]);
    const repeats = captures.map((each) => ({ ...each, id: "repeat", at: new Date(each.at.getTime() + 2_000) }));
    assert.deepEqual(factsOf("PL1", [...notices, ...repeats]), [1_050n, "attempt_failed"], "a repeat is no recapture");
    assert.deepEqual(factsOf("PL1", [...notices, again]), [1_050n, "attempt_failed", 1_050n]);
  }
});

test("a refused capture or cancellation leaves the authorization, and the end of an authorization cancels it", () => {
  const held = [manualPage, paid("A1", 1)];
  const no = { ...money, success: false, reason: "Transaction has expired" };
  assert.deepEqual(factsOf("PL1", [...held, change("CAPTURE", "C1", "A1", 2, no)]), [0n]);
  assert.deepEqual(factsOf("PL1", [...held, change("CANCELLATION", "C1", "A1", 2, no)]), [0n]);
  for (const [kind, details] of [
    ["CANCELLATION", { success: true }],
    ["TECHNICAL_CANCEL", { success: true }],
    ["CANCEL_OR_REFUND", { success: true, "modification.action": "cancel" }],
  ] as const) {
    assert.deepEqual(factsOf("PL1", [...held, change(kind, "C1", "A1", 2, details)]), [0n, "intent_canceled"], kind);
  }
  const expired = foldIntent("PL1", [...held, notice("EXPIRE", "A1", 9, { success: true })])?.facts.at(-1);
  assert.ok(expired?.kind === "intent_canceled" && expired.isExpired);
});

test("a second payment on a page is an intent of its own, whichever is stored first", () => {
  const notices = [page, paid("A2", 5), refused("A3", 6), paid("A1", 1)];
  assert.deepEqual(
    [intentRefOf(notices, "A2"), intentRefOf(notices, "A3"), intentRefOf(notices, "A1")],
    ["PL1", "PL1", "A1"],
  );
  assert.deepEqual(factsOf("PL1", notices), [1_050n, "attempt_failed"]);
  const second = foldIntent("A1", notices);
  assert.deepEqual([second?.ref, second?.reference, second?.amount], ["A1", payment, 1_050n]);
  assert.deepEqual(factsOf("A1", notices), [1_050n]);
});

test("a payment whose page's answer is lost is reported under its own id", () => {
  assert.equal(intentRefOf([paid("A1", 1)], "A1"), "A1");
  assert.equal(foldIntent("A1", [paid("A1", 1)])?.reference, payment);
});

test("the report of a renewed page carries its number", () => {
  const reference = `${payment}/2`;
  const renewed = { ...page, reference };
  const report = foldIntent("PL1", [renewed, { ...paid("A1", 1), reference }]);
  assert.deepEqual([report?.reference, report?.renewal], [payment, 2]);
});

test.run();
