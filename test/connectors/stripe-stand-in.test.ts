// The fake of Stripe's API against the connector: its faults that hide work, which the walk and chaos rely on.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";
import { factKinds, valueIn } from "./contract.ts";
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

test("lists, search and events lag for the given time; a read by id is current", async () => {
  rig.stripe.lagMs = 300;
  const { report } = await shop.created();
  const find = () => rig.connector.findIntent(rig.account, { reference: report.reference, surface: "embedded" });
  assert.equal((await find()).kind, "not_found");
  rig.stripe.pay(report.ref);
  assert.deepEqual(factKinds(await shop.read(report.ref)), ["attempt_succeeded"]);
  await eventually("the list to catch up", async () => (await find()).kind === "succeeded");
});

test.run();
