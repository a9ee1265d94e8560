// How the Stripe connector looks for what it may have made: in Stripe's whole lists, by Stripe's clock, over several
// calls where the account is busy.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { CreatedIntent, ProcessorAnswer } from "../../services/payments/connectors/connector.ts";
import type { IntentSearch } from "../../services/payments/connectors/order.ts";
import { suite } from "../harness/suite.ts";
import { valueIn } from "./contract.ts";
import { patientMs, type StripeRig, StripeShop, startStripeRig } from "./stripe-rig.ts";

const test = suite("Stripe: the search by our reference", { timeoutMs: 20_000 });
let rig: StripeRig;
const shop = new StripeShop(() => rig);

test.beforeEach(async () => {
  rig = await startStripeRig(patientMs);
});
test.afterEach(() => rig.stop());

const intentsPath = /^\/v1\/payment_intents$/;
const searchPath = /\/search$/;
const find = (reference: string, members: Partial<IntentSearch> = {}) =>
  rig.connector.findIntent(rig.account, { reference, surface: "embedded", ...members });
const sell = (count: number) => {
  for (let i = 0; i < count; i++) rig.stripe.createIntent({ amount: 100, currency: "eur", metadata: {} });
};
const listsRead = () => rig.fake.requests.filter(({ method, path }) => method === "GET" && intentsPath.test(path));

/** Asks until there is an answer, each time from where the last ended. */
async function findAll(reference: string): Promise<{ answer: ProcessorAnswer<CreatedIntent>; calls: number }> {
  let after = "";
  for (let calls = 1; ; calls++) {
    const answer = await find(reference, { after });
    if (answer.kind !== "unknown") return { answer, calls };
    assert.ok(answer.resumeAfter, `a place to go on from: ${String(answer.cause)}`);
    after = answer.resumeAfter;
  }
}

test("an account with more newer intents than a call reads proves absence in several calls of ten pages", async () => {
  sell(2_050);
  const startedAt = Math.floor(Date.now() / 1_000) * 1_000;
  const first = await find(newId("payment"));
  assert.ok(first.kind === "unknown" && first.resumeAfter);
  assert.equal(listsRead().length, 10);
  const { answer, calls } = await findAll(newId("payment"));
  assert.deepEqual([answer.kind, calls], ["not_found", 3]);
  assert.ok(answer.kind === "not_found" && answer.at && answer.at.getTime() >= startedAt);
});

test("absence that took several calls holds from the first call on, not from the last", async () => {
  sell(1_050);
  const reference = newId("payment");
  const first = await find(reference);
  assert.ok(first.kind === "unknown" && first.resumeAfter);
  rig.fake.clockOffsetMs = 3_600_000;
  const second = await find(reference, { after: first.resumeAfter });
  assert.ok(second.kind === "not_found" && second.at && second.at.getTime() < Date.now() + 60_000);
});

test("what is older than a call reads is found by a later one, also while Stripe's search fails", async () => {
  const { report } = await shop.created();
  sell(2_050);
  for (let i = 0; i < 2; i++) rig.fake.failNext("GET", searchPath, "503");
  const { answer, calls } = await findAll(report.reference);
  assert.deepEqual([valueIn(answer).report.ref, calls], [report.ref, 3]);
});

test("a hit of Stripe's search is a fact, and finding nothing there proves nothing", async () => {
  const { report } = await shop.created();
  sell(1_001);
  assert.equal(valueIn(await find(report.reference)).report.ref, report.ref);
  assert.equal((await find(newId("payment"))).kind, "unknown");
});

test("a search that breaks off goes on from the page where it was", async () => {
  const { report } = await shop.created();
  sell(250);
  rig.fake.misbehave({ fault: "503", method: "GET", path: intentsPath, probability: 0.5, seed: 3 });
  let [after, unknown] = ["", 0];
  for (;;) {
    const answer: ProcessorAnswer<CreatedIntent> = await find(report.reference, { after });
    if (answer.kind !== "unknown") {
      assert.equal(valueIn(answer).report.ref, report.ref);
      break;
    }
    unknown++;
    after = answer.resumeAfter ?? "";
  }
  assert.ok(unknown > 0, "it did break off");
  assert.equal(listsRead().length, unknown + 3, "no page was read twice");
});

test("slow lists end a call in time to return where the next one continues", async () => {
  const hasty = await startStripeRig(1_500);
  try {
    for (let i = 0; i < 550; i++) hasty.stripe.createIntent({ amount: 100, currency: "eur", metadata: {} });
    hasty.fake.slowMs = 300;
    hasty.fake.misbehave({ fault: "slow", method: "GET", path: intentsPath, probability: 1, seed: 1 });
    let [after, calls] = ["", 0];
    for (;;) {
      calls++;
      const search = { reference: newId("payment"), surface: "embedded", after };
      const answer = await hasty.connector.findIntent(hasty.account, search);
      if (answer.kind === "not_found") break;
      assert.ok(answer.kind === "unknown" && answer.resumeAfter);
      after = answer.resumeAfter;
    }
    assert.ok(calls > 1, "six pages of 300 ms do not fit in half of 1.5 s");
  } finally {
    await hasty.stop();
  }
});

test("a search uses no clock of ours: it begins two days before Stripe's time, or has no beginning", async () => {
  const day = 86_400;
  const old = rig.stripe.asOf(rig.stripe.now() - day, () => {
    const metadata = { tollbooth_payment: newId("payment") };
    return rig.stripe.createIntent({ amount: 100, currency: "eur", metadata });
  });
  const reference = String(old.metadata.tollbooth_payment);
  const since = new Date(rig.stripe.now() * 1_000);
  assert.equal(valueIn(await find(reference, { since })).report.ref, old.id, "created a day before by Stripe's time");
  assert.deepEqual(listsRead().at(-1)?.form.created, { gte: String(Math.floor(since.getTime() / 1_000) - 2 * day) });
  assert.equal(valueIn(await find(reference)).report.ref, old.id);
  assert.equal(listsRead().at(-1)?.form.created, undefined);
});

test("an empty result has Stripe's own time, which may differ from ours", async () => {
  rig.fake.clockOffsetMs = -3_600_000;
  for (const surface of ["embedded", "redirect"]) {
    const answer = await find(newId("payment"), { surface });
    assert.ok(answer.kind === "not_found" && answer.at);
    assert.ok(Math.abs(answer.at.getTime() - (Date.now() - 3_600_000)) < 5_000, String(answer.at));
  }
  const paid = await shop.paid();
  const refund = await rig.connector.findRefund(rig.account, { intentRef: paid.ref, reference: newId("refund") });
  assert.ok(refund.kind === "not_found" && refund.at && refund.at.getTime() < Date.now() - 3_000_000);
  assert.ok((rig.connector.processorTime()?.getTime() ?? 0) < Date.now() - 3_000_000);
});

test("of two intents under one reference the older is ours", async () => {
  const { report } = await shop.created();
  const metadata = { tollbooth_payment: report.reference };
  const second = rig.stripe.createIntent({ amount: 1_050, currency: "eur", metadata });
  assert.equal(valueIn(await find(report.reference)).report.ref, report.ref);
  sell(150);
  const since = new Date(rig.stripe.now() * 1_000);
  const found = valueIn(await find(report.reference, { since })).report.ref;
  assert.deepEqual([found === report.ref, found === second.id], [true, false]);
});

test("an intent that is in a list but answers 404 is unknown, not absent", async () => {
  const { report } = await shop.created();
  rig.fake.failNext("GET", /payment_intents\/pi_/, "missing");
  assert.equal((await find(report.reference)).kind, "unknown");
});

test.run();
