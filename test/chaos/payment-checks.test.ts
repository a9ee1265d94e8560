// The comparison of a run finds what it is there to find: each case is one payment with one thing wrong.
import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import type { TheirIntent } from "./expected-money.ts";
import type { AnnouncementCounts, OurPayment } from "./money-truth.ts";
import { answerDifferences, differencesWithProcessor, type Theirs } from "./payment-checks.ts";
import { differencesWithSession, eventDifferences } from "./promise-checks.ts";

const test = suite("comparison of payments");

/** 1,000 captured, fee 59, a refund of 300. */
const ours: OurPayment = {
  id: "pay_1",
  merchant: "mer_1",
  environment: 1,
  connector: "simulator",
  session: "cs_1",
  ref: "pi_1",
  outcome: "succeeded",
  status: "partially_refunded",
  visible: true,
  amount: 1_000,
  currency: "EUR",
  captured: 1_000,
  refunded: 300,
  fee: 59,
  hold: "none",
  disputed: 0,
  bookedAt: 101,
  declined: 0,
  byConfirm: true,
  byProcessor: true,
  wasCaptured: true,
  captures: 1,
  wasReturned: false,
  captureMethod: "automatic",
  captureBefore: 0,
  wasReleased: false,
  refunds: [{ id: "re_1", ref: "rf_1", amount: 300, status: "succeeded", unasked: false }],
  disputes: [],
  suspense: [],
  clearing: 700,
  refundOperations: 1,
  sessionStatus: "completed",
  sessionAmount: 1_000,
  sessionPaymentStatus: "partially_refunded",
};
const intent: TheirIntent = {
  id: "pi_1",
  reference: "pay_1",
  status: "succeeded",
  amount: 1_000,
  currency: "EUR",
  captured_amount: 1_000,
  captures: [{ amount: 1_000, at: 100 }],
  attempts: [{ status: "succeeded" }],
  refunds: [{ id: "rf_1", amount: 300, status: "succeeded", reference: "re_1" }],
  disputes: [],
  untold: 0,
};
const theirs: Theirs = {
  intents: [intent],
  statement: new Map([
    ["pi_1", { amount: 1_000, status: "succeeded" }],
    ["rf_1", { amount: 300, status: "succeeded" }],
  ]),
  schedules: [{ merchant: "*", currency: "*", connector: "*", from: 0, basisPoints: 290, fixed: 30 }],
};

/** The differences; the journal's balance at the processor is right unless the change sets it. */
function found(change: Partial<OurPayment>, intents: readonly TheirIntent[] = [intent]): string {
  const back = intents.flatMap(({ refunds }) => refunds.filter(({ status }) => status === "succeeded"));
  const lost = intents.flatMap(({ disputes }) => disputes.filter(({ status }) => status === "lost"));
  const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0);
  const captured = sum(intents.map((one) => one.captured_amount));
  const clearing = captured - sum([...back, ...lost].map(({ amount }) => amount));
  return differencesWithProcessor({ ...ours, clearing, ...change }, { ...theirs, intents }).join("; ");
}

const second: TheirIntent = { ...intent, id: "pi_2", refunds: [] };
const held = { id: "su_1", kind: "second_charge", ref: "pi_2", amount: 1_000, returned: 0, resolution: "" };

test("a payment that agrees has no difference, and each amount, status and fee that does not is found", () => {
  assert.equal(found({}), "");
  const wrong: [Partial<OurPayment>, RegExp][] = [
    [{ captured: 999 }, /captured amount is 999 with us and 1000/],
    [{ refunded: 0 }, /refunded amount is 0 with us and 300/],
    [{ fee: 58 }, /fee is 58, by the schedule in effect at capture it is 59/],
    [{ status: "refunded" }, /status is refunded with us and partially_refunded/],
    [{ hold: "open" }, /dispute hold is open/],
    [{ disputed: 5 }, /disputed amount is 5/],
    [{ refunds: [] }, /refund rf_1 300 succeeded is only at the processor/],
    [{ declined: 1 }, /declined attempts is 1/],
    [{ outcome: "failed" }, /outcome is failed with us and succeeded/],
    [{ clearing: 699 }, /money at the processor is 699 with us and 700/],
  ];
  for (const [change, expected] of wrong) assert.match(found(change), expected);
});

test("a second captured intent must be in suspense with its captured and returned amounts", () => {
  assert.match(found({}, [intent, second]), /1000 were captured by pi_2, and no second_charge is in suspense/);
  assert.equal(found({ suspense: [held] }, [intent, second]), "");
  assert.match(
    found({ suspense: [{ ...held, amount: 900 }] }, [intent, second]),
    /amount of second_charge pi_2 is 900/,
  );
  const refunded = { ...second, refunds: [{ id: "rf_2", amount: 1_000, status: "succeeded" }] };
  assert.match(found({ suspense: [held] }, [intent, refunded]), /returned of second_charge pi_2 is 0 with us and 1000/);
  assert.equal(found({ suspense: [{ ...held, returned: 1_000, resolution: "given_back" }] }, [intent, refunded]), "");
  assert.match(found({ suspense: [held] }), /second_charge pi_2 .* the processor has none for this payment/);
  assert.equal(found({}, [intent, { ...second, status: "canceled", captured_amount: 0 }]), "", "it took no money");
});

test("an excess capture leaves the payment with what was asked, and the rest is listed", () => {
  const more = { ...intent, captured_amount: 1_200, captures: [{ amount: 1_200, at: 100 }] };
  const row = { ...held, kind: "excess_capture", ref: "pi_1", amount: 200 };
  assert.equal(found({ suspense: [row] }, [more]), "");
  assert.match(found({}, [more]), /1200 were captured by pi_1, and no excess is listed/);
  assert.match(found({ suspense: [row], captured: 1_200 }, [more]), /captured amount is 1200 with us and 1000/);
  assert.match(found({ suspense: [{ ...row, amount: 199 }] }, [more]), /excess of pi_1 is 199 with us and 200/);
  assert.equal(found({ suspense: [{ ...row, amount: 300, returned: 100 }] }, [more]), "", "it overtook a refund");
  assert.match(found({ suspense: [{ ...row, returned: 100 }] }, [more]), /excess of pi_1 is 100 with us and 200/);
});

test("an item names an intent of its payment, and accepted money is not refunded as well", () => {
  const other = { ...held, kind: "other_amount", ref: "pi_9" };
  assert.match(found({ suspense: [other] }), /other_amount pi_9 is in suspense, .* none for this payment/);
  const kept = { ...held, resolution: "taken" };
  const back = { id: "rf_9", amount: 1_000, status: "succeeded", reference: "su_1.2" };
  assert.match(found({ suspense: [kept] }, [intent, { ...second, refunds: [back] }]), /su_1 was accepted, and rf_9/);
  const failed = { ...second, refunds: [{ ...back, status: "failed" }] };
  assert.equal(found({ suspense: [kept] }, [intent, failed]), "", "the refund was not made");
});

test("an intent in another currency is never the payment's own", () => {
  const open = { outcome: "pending", status: "pending", captured: 0, refunded: 0, fee: 0, refunds: [] };
  const dollars = { ...intent, currency: "USD", refunds: [] };
  assert.match(found(open, [dollars]), /1000 were captured by pi_1, and no other_amount/);
  assert.match(found({ ...open, captured: 1_000 }, [dollars]), /captured amount is 1000 with us and 0/);
});

test("a charge of another amount, a lost intent and a second refund must stand in the operators' list", () => {
  const other = { ...intent, amount: 60_000, captured_amount: 60_000, refunds: [] };
  const open = { outcome: "pending", status: "pending", captured: 0, refunded: 0, fee: 0, refunds: [] };
  assert.match(found(open, [other]), /60000 were captured by pi_1, and no other_amount is in suspense/);
  const item = { ...held, kind: "other_amount", ref: "pi_1", amount: 60_000 };
  assert.equal(found({ ...open, suspense: [item] }, [other]), "");
  const lost = { ...intent, captured_amount: 0, status: "requires_action", refunds: [], isLost: true };
  assert.match(found({ ...open, outcome: "requires_action" }, [lost]), /lost the intent, .* in no list/);
  const listed = { ...held, kind: "lost_intent", ref: "pi_1", amount: 0 };
  assert.equal(found({ ...open, outcome: "requires_action", suspense: [listed] }, [lost]), "");
  const twice = {
    ...intent,
    refunds: [...intent.refunds, { id: "rf_2", amount: 300, status: "succeeded", reference: "re_1" }],
  };
  const refunds = [...ours.refunds, { id: "re_2", ref: "rf_2", amount: 300, status: "succeeded", unasked: false }];
  assert.match(found({ refunds, refunded: 600 }, [twice]), /2 refunds stand under re_1, and 2 of them as asked for/);
  const unasked = refunds.map((refund) => ({ ...refund, unasked: refund.id === "re_2" }));
  assert.doesNotMatch(found({ refunds: unasked, refunded: 600 }, [twice]), /stand under/);
});

test("a returned debit makes its payment failed with nothing captured, with a journal row", () => {
  const back = {
    ...intent,
    status: "requires_payment_method",
    captured_amount: 0,
    captures: [],
    isReturned: true,
    wasReturned: true,
    refunds: [],
  };
  const attempts = { ...back, attempts: [{ status: "failed" }] };
  const failed = { outcome: "failed", status: "failed", captured: 0, refunded: 0, fee: 0, refunds: [], declined: 1 };
  assert.equal(found({ ...failed, wasReturned: true }, [attempts]), "");
  assert.match(found(failed, [attempts]), /the debit was returned, and the journal has no row for it/);
  assert.equal(found({ ...failed, wasCaptured: false }, [attempts]), "", "reported after its return");
  assert.match(found({}, [attempts]), /captured amount is 1000 with us and 0/);
  const unpaid = { ...attempts, isReturned: false, wasReturned: false };
  assert.match(found({ ...failed, wasReturned: true }, [unpaid]), /the journal has a return without a returned debit/);
});

test("declined attempts are counted as at the processor; one that it forgot may be known or not", () => {
  const forgetful = { ...intent, attempts: [{ status: "forgotten" }] };
  for (const declined of [0, 1]) assert.equal(found({ declined }, [forgetful]), "");
  assert.match(found({ declined: 2 }, [forgetful]), /declined attempts is 2/);
  assert.match(found({ declined: 1 }, [intent]), /declined attempts is 1/);
});

test("what the API answers must be what the processor's objects give", () => {
  const body = {
    amount: 1_000,
    captured_amount: 1_000,
    currency: "EUR",
    fee_amount: 59,
    refunded_amount: 300,
    net_amount: 641,
    status: "partially_refunded",
  };
  const answered = (change: object) =>
    answerDifferences(ours, intent, {
      status: 200,
      at: (path) => new Map(Object.entries({ ...body, ...change })).get(path),
    });
  assert.deepEqual(answered({}), []);
  assert.deepEqual(answered({ net_amount: 759 }), ["net_amount is answered as 759, it must be 641"]);
  assert.deepEqual(answered({ status: "succeeded" }), [
    "status is answered as succeeded, it must be partially_refunded",
  ]);
  const disputes = [{ id: "dsp_1", amount: 200, status: "lost" }];
  const lost = answerDifferences(
    ours,
    { ...intent, disputes },
    { status: 200, at: (path) => Object.entries(body).find(([name]) => name === path)?.[1] },
  );
  assert.deepEqual(lost, [
    "net_amount is answered as 641, it must be 441",
    "status is answered as partially_refunded, it must be disputed",
  ]);
});

function announcementsOf(byStatus: Record<string, number>, byObject: Record<string, number> = {}): AnnouncementCounts {
  return { byStatus: new Map(Object.entries(byStatus)), byObject: new Map(Object.entries(byObject)) };
}

test("events agree with the books: one for each path, refund and dispute, with an allowed status", () => {
  const announced = {
    "payment.succeeded succeeded": 2,
    "payment.refunded partially_refunded": 1,
    "refund.succeeded succeeded": 1,
    "checkout_session.completed completed": 1,
  };
  const objects = { "payment.refunded re_1": 1, "refund.succeeded re_1": 1 };
  const events = (
    statuses: Record<string, number>,
    byObject: Record<string, number> = objects,
    change = {},
    of = intent,
  ) =>
    eventDifferences(
      { ...ours, ...change },
      of,
      announcementsOf(statuses, byObject),
      announcementsOf(statuses).byStatus,
    ).join("; ");
  assert.equal(events(announced), "");
  assert.match(events({ ...announced, "payment.succeeded succeeded": 1 }), /announced 1 times by 2 paths/);
  const { "payment.refunded partially_refunded": _, ...unrefunded } = announced;
  assert.match(events({ ...unrefunded, "payment.refunded disputed": 1 }), /payment.refunded has status disputed/);
  assert.match(events(unrefunded, {}), /announced 0 times for refund re_1/);
  assert.match(events(announced, { ...objects, "refund.succeeded re_1": 2 }), /announced succeeded 2 times/);
  assert.match(events(announced, { "payment.refunded re_1": 1 }), /announced succeeded 0 times/);
  const { "checkout_session.completed completed": __, ...unended } = announced;
  assert.match(events(unended), /checkout_session.completed was announced 0 times, the session is completed/);
  const expired = { "checkout_session.expired expired": 1 };
  assert.equal(events({ ...announced, ...expired }), "", "it had expired before it was known to be paid");
  assert.match(events({ ...unended, ...expired }, objects, { sessionStatus: "open" }), /the session is open/);
  const once = { ...announced, "payment.succeeded succeeded": 1 };
  assert.match(events(once, {}, { byProcessor: false, refunds: [] }), /the processor's webhook announced nothing/);
  assert.equal(events(once, objects, { byProcessor: false }, { ...intent, untold: 1 }), "", "its webhook is held");
  const accepted = { ...held, ref: "pi_1", resolution: "taken" };
  const byOperator = { byProcessor: false, refunds: [], suspense: [accepted] };
  assert.equal(events(once, {}, byOperator).includes("announced nothing"), false, "an operator accepted it");
});

test("each status of a dispute is announced once, by the event of that status", () => {
  const disputed = { ...ours, disputes: [{ id: "dp_1", ref: "dsp_1", amount: 200, status: "lost" }] };
  const all = ["payment.disputed disputed", "dispute.created needs_response", "dispute.lost lost"];
  const objects = ["payment.disputed dp_1", "dispute needs_response dp_1", "dispute lost dp_1"];
  const ofRefund = ["payment.refunded re_1", "refund.succeeded re_1"];
  const events = (statuses: string[], about: string[], dispute = {}) => {
    const base = ["payment.succeeded succeeded", "payment.succeeded succeeded", "payment.refunded partially_refunded"];
    const more = ["refund.succeeded succeeded", "checkout_session.completed completed"];
    const byStatus = countOf([...base, ...more, ...statuses]);
    const of = { ...disputed, disputes: disputed.disputes.map((one) => ({ ...one, ...dispute })) };
    const theirs = { ...intent, disputes: [{ id: "dsp_1", amount: 200, status: of.disputes[0]?.status ?? "" }] };
    return eventDifferences(
      of,
      theirs,
      announcementsOf(byStatus, countOf([...ofRefund, ...about])),
      new Map(Object.entries(byStatus)),
    ).join("; ");
  };
  assert.equal(events(all, objects), "");
  assert.match(events(all.slice(0, 2), objects.slice(0, 2)), /no webhook announced that dispute dp_1 is lost/);
  assert.match(events([...all, "dispute.lost lost"], [...objects, "dispute lost dp_1"]), /won 0 times, lost 2/);
  const updated = ["dispute.updated needs_response", "dispute needs_response dp_1"] as const;
  assert.match(events([...all, updated[0]], [...objects, updated[1]]), /is needs_response was announced 2 times/);
  assert.match(events([...all.slice(0, 2), "dispute.closed lost"], objects), /dispute.closed has status lost/);
  const overturned = [...all, "dispute.won won"];
  assert.equal(events(overturned, [...objects, "dispute won dp_1"], { status: "won" }), "", "the scheme overturned it");
});

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

test("the end of an authorization is announced once with the processor's reason, and each capture that takes money", () => {
  const held = { ...ours, captureMethod: "manual", refunds: [], refunded: 0, session: "", refundOperations: 0 };
  const events = (change: Partial<OurPayment>, statuses: Record<string, number>, of: Partial<TheirIntent> = {}) => {
    const all = { "payment.succeeded succeeded": 2, ...statuses };
    return eventDifferences(
      { ...held, ...change },
      { ...intent, ...of },
      announcementsOf(all),
      announcementsOf(all).byStatus,
    ).join("; ");
  };
  assert.equal(events({}, { "authorization.captured succeeded": 1 }), "");
  assert.match(events({}, {}), /authorization.captured was announced 0 times, it must be 1/);
  assert.match(events({ captures: 0 }, { "authorization.captured succeeded": 1 }), /it must be 0/);
  const released = { outcome: "canceled", status: "canceled", captured: 0, captures: 0, wasReleased: true };
  assert.equal(events(released, { "authorization.canceled canceled": 1 }), "");
  assert.equal(events(released, { "authorization.expired canceled": 1 }, { isExpired: true }), "");
  assert.match(
    events(released, { "authorization.canceled canceled": 1 }, { isExpired: true }),
    /expired was announced 0/,
  );
});

test("an authorization is paid without money in the books", () => {
  const authorized = { ...intent, status: "requires_capture", captured_amount: 0, captures: [], refunds: [] };
  const held = { captureMethod: "manual", status: "succeeded", captured: 0, refunded: 0, fee: 0, refunds: [] };
  assert.equal(found({ ...held, captureBefore: 900 }, [authorized]), "");
  assert.match(found(held, [authorized]), /authorized without an end of its capture window/);
  assert.match(found({ ...held, captureBefore: 900, captured: 1 }, [authorized]), /captured amount is 1 with us and 0/);
  assert.match(found({ ...held, captureBefore: 900, fee: 59 }, [authorized]), /fee is 59/);
});

test("a session has its payment's status", () => {
  assert.deepEqual(differencesWithSession(ours), []);
  const sessionDifferences = (change: Partial<OurPayment>) => differencesWithSession({ ...ours, ...change }).join("; ");
  assert.match(
    sessionDifferences({ sessionPaymentStatus: "succeeded" }),
    /is partially_refunded, its session has succeeded/,
  );
  assert.match(sessionDifferences({ sessionAmount: 900 }), /the payment is of 1000, its session of 900/);
  assert.match(sessionDifferences({ sessionStatus: "open" }), /the outcome is succeeded, the session open/);
  assert.match(sessionDifferences({ outcome: "canceled", sessionStatus: "open" }), /canceled, the session open/);
  assert.equal(sessionDifferences({ session: "", sessionStatus: "", sessionPaymentStatus: "" }), "");
  const released = { outcome: "canceled", status: "canceled", wasReleased: true, sessionPaymentStatus: "canceled" };
  assert.equal(sessionDifferences(released), "", "it was paid, and stays completed");
  assert.match(sessionDifferences({ ...released, sessionStatus: "canceled" }), /the session canceled/);
});

test.run();
