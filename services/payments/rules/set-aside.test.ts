// What a processor reports in a payment's name: what is the payment's own, what is set aside, and when that ends.
import assert from "node:assert/strict";
import fc from "fast-check";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import { newId } from "../../platform/values/id.ts";
import { type Claimant, partReport, type ReportedIntent } from "./part-report.ts";
import type { Attempt, IntentFact } from "./payment.ts";
import type { RefundReport } from "./refund.ts";
import { settle } from "./settlement.ts";
import { heldIn, type KnownItem, type SetAside, type SuspenseKind, setAside } from "./suspense.ts";

const test = suite("set aside");
const noon = new Date("2026-01-01T12:00:00Z");
const fresh: Claimant = { id: "pay_1", connectorRef: "pi_1", currency: "EUR", state: untouchedPayment };
/** 1,000 that the attempt at_1 has captured. */
const paid: Claimant = after(fresh, reported({ facts: [captured(1_000n)] }));

function captured(capturedAmount: bigint, ref = "at_1"): IntentFact {
  const attempt: Attempt = { ref, startedAt: noon, card: undefined, verification: undefined };
  const told = { authorizedAt: noon, capturedAt: noon, authorizationCode: "", receiptUrl: "" };
  return { kind: "attempt_succeeded", attempt, capturedAmount, ...told };
}

function failed(ref = "at_1"): IntentFact {
  const attempt: Attempt = { ref, startedAt: noon, card: undefined, verification: undefined };
  return { kind: "attempt_failed", attempt, code: "card_declined", message: "", at: noon };
}

function refunded(amount: bigint, reference = ""): RefundReport {
  const told = { reason: "", failureCode: "", failureMessage: "", createdAt: noon };
  return { ...told, ref: `r_${reference}${amount}`, reference, amount, status: "succeeded" };
}

function reported(change: Partial<ReportedIntent> = {}): ReportedIntent {
  const asked = { ref: "pi_1", reference: "pay_1", amount: 1_000n, currency: "EUR" };
  return { ...asked, facts: [], refunds: [], disputes: [], ...change };
}

/** The payment once what of the report is its own is settled. */
function after(payment: Claimant, report: ReportedIntent): Claimant {
  const { own } = partReport(payment, report);
  if (!own) return payment;
  const books = { isDirect: false, state: payment.state, refunds: [], disputes: [], fees: [] };
  return { ...payment, state: settle(books, { ...own, kind: "intent" }, "processor", String).state };
}

function item(kind: SuspenseKind, change: Partial<KnownItem> = {}): KnownItem {
  const open = { id: "su_1", paymentId: "pay_1", kind, state: "open", resolution: "", currency: "EUR" } as const;
  return { ...open, amount: 1_000n, returned: 0n, paidBy: "at_9", kept: 0n, ...change };
}

/** What becomes of the items by the report. New ones are `new`. */
function hear(payment: Claimant, report: ReportedIntent, ...items: KnownItem[]): SetAside {
  return setAside(after(payment, report), report, partReport(payment, report).other, items, () => "new");
}

/** In words: what moves, what it holds, what is booked. */
function said({ changes }: SetAside): string[] {
  return changes.map(({ id, kind, holding, movements, move }) => {
    const holds = holding
      ? `holds ${holding.amount - holding.returned} of ${holding.amount + holding.kept}`
      : "as it was";
    const booked = movements.map((one) => `${one.kind} ${one.amount}`);
    return [`${id} ${kind}`, holds, ...booked, ...(move ? [move] : [])].join(", ");
  });
}

test("a report of the very intent that was asked for is the payment's, and nothing is set aside", () => {
  const report = reported({ facts: [captured(1_000n)] });
  assert.deepEqual(partReport(fresh, report), { other: undefined, own: report });
  assert.deepEqual(
    partReport({ ...fresh, connectorRef: "" }, report),
    { other: undefined, own: report },
    "not known yet",
  );
  assert.deepEqual(hear(fresh, report), { changes: [], mismatch: undefined, ignored: [] });
});

test("what differs from the payment is never its own", () => {
  const differs = (change: Partial<ReportedIntent>, payment = fresh) => {
    const { other, own } = partReport(payment, reported({ facts: [captured(1_000n)], ...change }));
    assert.equal(own, undefined);
    return `${other?.kind}: ${other?.what}`;
  };
  assert.equal(differs({ ref: "pi_2" }), "second_charge: intent id");
  assert.equal(differs({ reference: "pay_2" }, { ...fresh, connectorRef: "" }), "other_amount: reference");
  assert.equal(differs({ amount: 999n }), "other_amount: amount");
  assert.equal(differs({ amount: 1_001n }), "other_amount: amount");
  assert.equal(differs({ currency: "USD" }), "other_amount: currency");
  assert.equal(differs({ facts: [captured(1_001n)] }), "other_amount: captured amount");
});

test("an intent that the payment has is its own, whatever its reference is", () => {
  const report = reported({ facts: [captured(1_000n)], reference: "pay_2" });
  assert.deepEqual(partReport(fresh, report), { other: undefined, own: report });
});

test("a charge beside ours is held, ends with its refund, and is open again when that failed", () => {
  const beside = (change: Partial<ReportedIntent> = {}) =>
    reported({ ref: "pi_2", facts: [captured(1_000n)], ...change });
  assert.deepEqual(said(hear(paid, beside())), ["new second_charge, holds 1000 of 1000, suspense_held 1000"]);
  const known = item("second_charge", { paidBy: "at_1" });
  const back = beside({ refunds: [refunded(1_000n, "su_1")] });
  assert.deepEqual(said(hear(paid, back, known)), [
    "su_1 second_charge, holds 0 of 1000, suspense_released 1000, given_back",
  ]);
  const ended = { ...known, state: "closed", resolution: "given_back", returned: 1_000n } as const;
  const failedBack = beside({ refunds: [{ ...refunded(1_000n, "su_1"), status: "failed" }] });
  assert.deepEqual(said(hear(paid, failedBack, ended)), [
    "su_1 second_charge, holds 1000 of 1000, suspense_held 1000, reopened",
  ]);
  assert.deepEqual(said(hear(paid, reported({ ref: "pi_2" }))), [], "nothing was paid there");
});

test("what a person ended stays ended, whatever the processor says of it", () => {
  for (const resolution of ["taken", "closed", "gone"] as const) {
    const ended = item("second_charge", { state: "closed", resolution });
    const told = hear(paid, reported({ ref: "pi_2", facts: [captured(1_000n)] }), ended);
    assert.deepEqual(told, { changes: [], mismatch: undefined, ignored: [`su_1 was ${resolution}`] });
  }
  const taken = item("second_charge", { state: "closed", resolution: "taken", amount: 0n, paidBy: "" });
  assert.deepEqual(said(hear(paid, reported({ ref: "pi_2", facts: [captured(1_000n)] }), taken)), []);
});

test("what was closed because it held nothing is open again when something is paid after all", () => {
  const closed = item("other_amount", { amount: 0n, paidBy: "", state: "closed", resolution: "closed" });
  const other = { amount: 900n };
  assert.deepEqual(said(hear(fresh, reported(other), closed)), [], "still nothing");
  assert.deepEqual(said(hear(fresh, reported({ ...other, facts: [captured(900n)] }), closed)), [
    "su_1 other_amount, holds 900 of 900, suspense_held 900, reopened",
  ]);
});

test("what came back as a whole and was paid by another attempt since is held again", () => {
  const returned = { returned: 1_000n, state: "closed", resolution: "given_back" } as const;
  const facts = [failed("at_1"), captured(1_000n, "at_2")];
  assert.deepEqual(
    said(hear(paid, reported({ ref: "pi_2", facts }), item("second_charge", { paidBy: "at_1", ...returned }))),
    ["su_1 second_charge, holds 1000 of 1000, suspense_held 1000, reopened"],
  );
  for (const told of [facts.toReversed(), [captured(1_000n, "at_2"), captured(700n, "at_1"), failed("at_1")]]) {
    assert.deepEqual(
      said(hear(paid, reported({ ref: "pi_2", facts: told }), item("second_charge", { paidBy: "at_1" }))),
      ["su_1 second_charge, holds 1000 of 1000, reopened"],
      "told in one, whatever the order",
    );
  }
});

test("an intent is held once, whatever it turns out to be", () => {
  const held = item("other_amount", { amount: 900n, paidBy: "at_1" });
  assert.deepEqual(said(hear(paid, reported({ ref: "pi_2", amount: 900n, facts: [captured(900n)] }), held)), [
    "su_1 other_amount, holds 900 of 900, reopened",
  ]);
});

test("of what went back, as much as the payment has is the payment's, and the rest is of what is held besides", () => {
  const held = item("other_amount", { amount: 200n, kept: 1_000n, paidBy: "at_1" });
  const more = { facts: [captured(1_200n)] };
  const all = reported({ ...more, refunds: [refunded(1_200n)] });
  assert.deepEqual(said(hear(paid, all, held)), [
    "su_1 other_amount, holds 0 of 1200, suspense_released 200, given_back",
  ]);
  assert.deepEqual([after(paid, all).state.refundedAmount, after(paid, all).state.capturedAmount], [1_000n, 1_000n]);
  const inTwo = reported({ ...more, refunds: [refunded(300n), refunded(900n)] });
  assert.deepEqual(said(hear(paid, inTwo, held)), said(hear(paid, all, held)));
  assert.equal(after(paid, inTwo).state.refundedAmount, 1_000n);
  const part = reported({ ...more, refunds: [refunded(300n)] });
  assert.deepEqual(said(hear(paid, part, held)), ["su_1 other_amount, holds 200 of 1200, reopened"]);
  assert.equal(after(paid, part).state.refundedAmount, 300n);
  const lost = { ref: "d_1", amount: 1_200n, status: "lost", reason: "fraudulent", openedAt: noon } as const;
  const disputed = reported({ ...more, disputes: [lost] });
  assert.deepEqual(said(hear(paid, disputed, held)), said(hear(paid, all, held)));
  assert.equal(after(paid, disputed).state.disputedAmount, 1_000n);
});

test("refunds that we asked for are the payment's before those of the dashboard", () => {
  const ours = { ...refunded(1_000n, newId("refund")), createdAt: new Date(noon.getTime() + 1_000) };
  const report = reported({ facts: [captured(1_200n)], refunds: [refunded(200n), ours] });
  const { own } = partReport(paid, report);
  assert.deepEqual(
    own?.refunds.map(({ reference, amount }) => [reference, amount]),
    [[ours.reference, 1_000n]],
  );
});

test("what another attempt took too much is held without the payment's part, told together with what came back", () => {
  const report = reported({ facts: [failed("at_1"), captured(1_200n, "at_2")] });
  assert.equal(after(paid, report).state.capturedAmount, 1_000n);
  assert.deepEqual(said(hear(paid, report)), ["new other_amount, holds 200 of 1200, suspense_held 200"]);
});

test("what is captured beyond the payment's own capture is held alone, and the rest stays the payment's", () => {
  const more = reported({ facts: [captured(1_300n)] });
  assert.equal(after(paid, more).state.capturedAmount, 1_000n);
  assert.deepEqual(said(hear(paid, more)), ["new other_amount, holds 300 of 1300, suspense_held 300"]);
  assert.deepEqual(said(hear(fresh, more)), ["new other_amount, holds 1300 of 1300, suspense_held 1300"], "none yet");
  assert.equal(hear(paid, more).mismatch, "captured amount");
});

test("what was held of an intent that turns out right is the payment's, once the report tells of its capture", () => {
  const held = item("other_amount", { paidBy: "at_1" });
  const right = reported({ facts: [captured(1_000n)] });
  assert.deepEqual(said(hear(fresh, right, held)), [
    "su_1 other_amount, holds 0 of 1000, suspense_released 1000, found",
  ]);
  assert.deepEqual(said(hear(fresh, reported(), held)), [], "from before it was captured");
  assert.deepEqual(said(hear(fresh, reported({ facts: [failed()] }), held)), [
    "su_1 other_amount, holds 0 of 1000, suspense_released 1000, found",
  ]);
});

test("an intent that is the payment's ends what was said of it: lost, or a second charge", () => {
  const right = reported({ facts: [captured(1_000n)] });
  assert.deepEqual(said(hear(fresh, right, item("lost_intent", { amount: 0n, paidBy: "" }))), [
    "su_1 lost_intent, as it was, found",
  ]);
  assert.deepEqual(said(hear(fresh, right, item("second_charge"))), [
    "su_1 second_charge, holds 0 of 1000, suspense_released 1000, found",
  ]);
  assert.deepEqual(said(hear(fresh, right, item("second_refund"))), [], "a person decides");
});

test("an intent that the processor tells of is not lost, also when it is not the one that was asked for", () => {
  const lost = item("lost_intent", { id: "su_2", amount: 0n, paidBy: "" });
  assert.deepEqual(said(hear(fresh, reported({ amount: 900n, facts: [captured(900n)] }), lost)), [
    "su_2 lost_intent, as it was, found",
    "new other_amount, holds 900 of 900, suspense_held 900",
  ]);
  const ended = item("other_amount", { state: "closed", resolution: "closed" });
  assert.deepEqual(said(hear(fresh, reported({ amount: 900n }), ended, lost)), ["su_2 lost_intent, as it was, found"]);
});

test("items of another payment, and closed ones, are left alone", () => {
  const right = reported({ facts: [captured(1_000n)] });
  assert.deepEqual(said(hear(fresh, right, item("second_charge", { paymentId: "pay_2" }))), []);
  assert.deepEqual(said(hear(fresh, right, item("second_charge", { state: "closed", resolution: "given_back" }))), []);
});

test("whatever is reported in whatever order, an item holds what its movements come to, and an attempt's money is there once", () => {
  const su = newId("suspense");
  const amounts = fc.bigInt({ min: 1n, max: 2_000n });
  const reports = fc.record({
    ref: fc.constantFrom("pi_1", "pi_2"),
    amount: fc.constantFrom(1_000n, 900n),
    currency: fc.constantFrom("EUR", "USD"),
    facts: fc.array(
      fc.oneof(
        amounts.map((n) => captured(n)),
        fc.constant(failed()),
      ),
      { maxLength: 2 },
    ),
    refunds: fc.array(
      fc.tuple(amounts, fc.constantFrom("", su)).map(([n, of]) => refunded(n, of)),
      { maxLength: 2 },
    ),
  });
  fc.assert(
    fc.property(fc.array(reports, { maxLength: 8 }), (said) => {
      let payment = fresh;
      const items = new Map<string, KnownItem>();
      const booked = new Map<string, bigint>();
      for (const change of said) {
        const report = reported(change);
        const { other } = partReport(payment, report);
        const settled = after(payment, report);
        const known = [...items].flatMap(([key, one]) => (key.startsWith(`${report.ref} `) ? [one] : []));
        const fresher = () => (items.size === 0 ? su : newId("suspense"));
        const told = setAside(settled, report, other, known, fresher);
        for (const { id, kind, holding, movements, move } of told.changes) {
          const key = `${report.ref} ${kind}`;
          const before = items.get(key) ?? item(kind, { id, currency: report.currency, amount: 0n, paidBy: "" });
          const isClosed = move ? move !== "reopened" : before.state === "closed";
          const end = isClosed
            ? ({ state: "closed", resolution: move ?? before.resolution } as const)
            : { state: "open" as const, resolution: "" as const };
          items.set(key, { ...before, ...holding, ...(end as Pick<KnownItem, "state" | "resolution">) });
          for (const one of movements) {
            const signed = one.kind === "suspense_held" ? one.amount : -one.amount;
            booked.set(id, (booked.get(id) ?? 0n) + signed);
          }
        }
        payment = settled;
        assert.ok(payment.state.capturedAmount <= 1_000n, "no more than was asked for");
        if (other && other.what !== "captured amount") assert.equal(settled.state, payment.state);
        for (const one of items.values()) {
          assert.equal(booked.get(one.id) ?? 0n, heldIn(one), "the books say what it holds");
          assert.ok(one.returned >= 0n && heldIn(one) >= 0n);
          if (one.kept > 0n) assert.ok(one.kept <= payment.state.amount);
          if (one.state === "closed") assert.equal(heldIn(one), 0n, "nothing in it is forgotten");
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test("an item keeps its currency: a report in another one changes nothing, and what ends it is booked in its own", () => {
  const inDollars = item("other_amount", { currency: "USD", amount: 500n, paidBy: "at_1" });
  for (const known of [inDollars, { ...inDollars, kind: "second_charge", paidBy: "at_9" } as const]) {
    const ref = known.kind === "second_charge" ? "pi_2" : "pi_1";
    const report = reported({ ref, amount: 700n, facts: [captured(700n)] });
    const { changes, ignored } = hear(fresh, report, known);
    assert.deepEqual([changes, ignored], [[], ["su_1 is in USD, the report in EUR"]]);
  }
  const right = hear(fresh, reported({ facts: [captured(1_000n)] }), inDollars);
  assert.deepEqual(said(right), ["su_1 other_amount, holds 0 of 1000, suspense_released 500, found"]);
  assert.equal(right.changes[0]?.currency, "USD");
});

test.run();
