// The fake of Stripe's API against the connector: it fails in every way that Stripe's documentation describes, and each
// key makes one object.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { eventually } from "../harness/eventually.ts";
import { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import { type StripeFault, stripeFaults } from "../harness/stripe/stripe-faults.ts";
import { suite } from "../harness/suite.ts";
import { kinds, valueIn } from "./contract.ts";
import { patientMs, type StripeRig, StripeShop, startStripeRig } from "./stripe-rig.ts";

const test = suite("the stand-in of Stripe", { timeoutMs: 30_000 });
let rig: StripeRig;
const shop = new StripeShop(() => rig);

test.beforeEach(async () => {
  rig = await startStripeRig(patientMs);
});
test.afterEach(() => rig.stop());

const commands = /\/(payment_intents|refunds)$/;
const intentsUnder = (reference: string) =>
  [...rig.stripe.intents.values()].filter(({ metadata }) => metadata.tollbooth_payment === reference);

test("a key whose work goes on is refused with 409, and afterwards brings what the work made", async () => {
  rig.fake.workMs = 200;
  const [order, key] = [shop.order(), newId("operation")];
  const answers = await Promise.all([shop.create(order, key), shop.create(order, key)]);
  const [made, ...others] = answers.toSorted((a, b) => a.kind.localeCompare(b.kind));
  assert.deepEqual([made?.kind, others.map(({ kind }) => kind)], ["succeeded", ["unknown"]]);
  assert.equal(valueIn(await shop.create(order, key)).report.reference, order.reference);
  assert.equal(intentsUnder(order.reference).length, 1);
});

test("an edge that answers 502 while its origin works on: 409 for the key, an empty list, and then one intent", async () => {
  const [order, key] = [shop.order(), newId("operation")];
  rig.fake.earlyMs = 500;
  rig.fake.failNext("POST", commands, "early");
  assert.equal((await shop.create(order, key)).kind, "unknown");
  assert.equal((await shop.create(order, key)).kind, "unknown", "the key is in progress");
  assert.equal(intentsUnder(order.reference).length, 0);
  await eventually("the origin's work", () => intentsUnder(order.reference).length === 1);
  const [made] = intentsUnder(order.reference);
  assert.equal(valueIn(await shop.create(order, key)).report.ref, made?.id, "the key brings it");
});

test("a 500 is stored under its key, also when the work was done, until the key is a day old by Stripe's clock", async () => {
  const [order, key] = [shop.order(), newId("operation")];
  rig.fake.failNext("POST", commands, "500 done");
  for (let i = 0; i < 3; i++) assert.equal((await shop.create(order, key)).kind, "unknown");
  assert.equal(intentsUnder(order.reference).length, 1);
  rig.fake.clockOffsetMs = 23 * 3_600_000;
  assert.equal((await shop.create(order, key)).kind, "unknown");
  rig.fake.clockOffsetMs = 25 * 3_600_000;
  valueIn(await shop.create(order, key));
  assert.equal(intentsUnder(order.reference).length, 2, "a key that is sent too late makes a second one");
});

test("a key makes one intent and one refund, whichever faults strike its requests", async () => {
  const seed = 20_261_122;
  console.log(`seed ${seed}`);
  const slowest: readonly StripeFault[] = ["silent", "401", "403", "missing"];
  const faults = stripeFaults.filter((fault) => !slowest.includes(fault) && !fault.startsWith("500"));
  rig.fake.earlyMs = 50;
  rig.fake.slowMs = 50;
  for (const [i, fault] of faults.entries()) {
    rig.fake.misbehave({ fault, method: "POST", path: commands, probability: 0.1, seed: seed + i });
  }
  /** The same call under the same key, until there is an answer. */
  const insist = async <T>(send: () => Promise<{ kind: string; value?: T }>): Promise<T | undefined> => {
    for (let i = 0; i < 50; i++) {
      const answer = await send();
      if (answer.kind !== "unknown" && answer.kind !== "not_sent") return answer.value;
    }
    throw new Error("no answer in 50 tries");
  };
  for (let i = 0; i < 10; i++) {
    const [order, key, refundKey] = [shop.order(), newId("operation"), newId("operation")];
    const made = await insist(() => shop.create(order, key));
    assert.equal(intentsUnder(order.reference).length, 1);
    const ref = made?.report.ref ?? "";
    rig.stripe.pay(ref);
    const partial = { intentRef: ref, reference: newId("refund"), amount: 100n, currency: "EUR", reason: "" };
    await insist(() => rig.connector.createRefund(rig.account, partial, refundKey));
    assert.equal([...rig.stripe.refunds.values()].filter((each) => each.payment_intent === ref).length, 1);
  }
  const struck = [...rig.fake.fired().values()].reduce((sum, count) => sum + count, 0);
  assert.ok(struck >= 10, `${struck} faults struck`);
});

test("chance strikes the same requests for the same seed, and a calm stand-in strikes none", async () => {
  const strikes = async (seed: number) => {
    const fake = await new FakeStripe().start();
    try {
      fake.misbehave({ fault: "503", method: "GET", path: /account/, probability: 0.5, seed });
      const statuses: number[] = [];
      for (let i = 0; i < 20; i++) statuses.push((await fetch(`${fake.url}/v1/account`)).status);
      const struck = statuses.filter((status) => status === 503).length;
      assert.deepEqual([...fake.fired()], [["503", struck]]);
      fake.calm();
      assert.equal((await fetch(`${fake.url}/v1/account`)).status, 401);
      return statuses;
    } finally {
      await fake.stop();
    }
  };
  assert.deepEqual(await strikes(7), await strikes(7));
  assert.notDeepEqual(await strikes(7), await strikes(8));
});

test("lists, search and events lag for the given time; a read by id is current", async () => {
  rig.stripe.lagMs = 300;
  const { report } = await shop.created();
  const find = () => rig.connector.findIntent(rig.account, { reference: report.reference, surface: "embedded" });
  assert.equal((await find()).kind, "not_found");
  rig.stripe.pay(report.ref);
  assert.deepEqual(kinds(await shop.read(report.ref)), ["attempt_succeeded"]);
  await eventually("the list to catch up", async () => (await find()).kind === "succeeded");
});

test("a 404 for an intent that exists, a command's included, moves nothing", async () => {
  const report = await shop.paid();
  rig.fake.failNext("GET", /payment_intents\/pi_/, "missing");
  assert.equal((await rig.connector.retrieveIntent(rig.account, report.ref)).kind, "not_found");
  rig.fake.failNext("POST", commands, "missing");
  assert.equal((await shop.refund(report, 100n)).kind, "declined");
  assert.equal(rig.stripe.refunds.size, 0);
});

test("a refund of five days ago may fail today, and one payment may have several disputes", async () => {
  const { report } = await shop.created();
  const refund = rig.stripe.asOf(rig.stripe.now() - 5 * 86_400, () => {
    rig.stripe.pay(report.ref);
    return rig.stripe.refund(rig.stripe.intent(report.ref), 100);
  });
  rig.stripe.failRefund(refund.id);
  rig.stripe.dispute(report.ref, "needs_response", 300);
  rig.stripe.dispute(report.ref, "lost", 200);
  const { refunds, disputes } = await shop.read(report.ref);
  assert.deepEqual(
    refunds.map(({ status, createdAt }) => [status, createdAt.getTime() / 1_000]),
    [["failed", refund.created]],
  );
  assert.deepEqual(disputes.map(({ amount, status }) => [amount, status]).toSorted(), [
    [200n, "lost"],
    [300n, "needs_response"],
  ]);
});

test.run();
