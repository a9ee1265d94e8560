// The Stripe connector's statement and event list: balance changes and events of a period.
import assert from "node:assert/strict";
import type { ProcessorEvent } from "../../services/payments/connectors/connector.ts";
import type { StatementLine } from "../../services/payments/rules/statement.ts";
import { suite } from "../harness/suite.ts";
import { statementOf, valueIn } from "./contract.ts";
import { patientMs, type StripeRig, StripeShop, startStripeRig } from "./stripe-rig.ts";

const test = suite("Stripe: the statement and the event list", { timeoutMs: 20_000 });
let rig: StripeRig;
const shop = new StripeShop(() => rig);

test.beforeEach(async () => {
  rig = await startStripeRig(patientMs);
});
test.afterEach(() => rig.stop());

const day = 86_400;
const ago = <T>(days: number, work: () => T) => rig.stripe.asOf(rig.stripe.now() - days * day, work);
/** From an hour ago to an hour ahead. */
const today = () => {
  const now = rig.stripe.now() * 1_000;
  return statementOf(rig, { from: new Date(now - 3_600_000), to: new Date(now + 3_600_000) });
};
const only = (lines: readonly StatementLine[], object: string) => lines.filter((line) => line.object === object);

test("what moves money today is in today's statement as it is now, however old the object is", async () => {
  const { report } = await shop.created();
  const disputed = await shop.created();
  const returned = await shop.created();
  const refund = ago(5, () => {
    for (const made of [report, disputed.report, returned.report]) rig.stripe.pay(made.ref);
    return rig.stripe.refund(rig.stripe.intent(report.ref), 400);
  });
  assert.deepEqual(await today(), [], "no balance change today");
  rig.stripe.failRefund(refund.id);
  const dispute = rig.stripe.dispute(disputed.report.ref);
  rig.stripe.returnCharge(returned.report.ref);
  const lines = await today();
  const euro = { currency: "EUR" };
  assert.deepEqual(only(lines, "refund"), [
    { object: "refund", ref: refund.id, intentRef: report.ref, amount: 400n, ...euro, status: "failed" },
  ]);
  const held = { object: "dispute", ref: dispute.id, intentRef: disputed.report.ref, amount: 1_050n, ...euro };
  assert.deepEqual(only(lines, "dispute"), [{ ...held, status: "needs_response" }]);
  const { ref } = returned.report;
  assert.deepEqual(only(lines, "payment"), [
    { object: "payment", ref, intentRef: ref, amount: 0n, ...euro, status: "" },
  ]);
});

test("a dispute that is won or was withdrawn twice is one line, as it is now", async () => {
  const { report } = await shop.created();
  const { id } = ago(5, () => {
    rig.stripe.pay(report.ref);
    return rig.stripe.dispute(report.ref);
  });
  for (const status of ["won", "needs_response", "won"]) rig.stripe.moveDispute(id, status);
  assert.deepEqual(
    (await today()).map(({ ref, status }) => [ref, status]),
    [[id, "won"]],
  );
});

test("fees, payouts and what others take on the account are passed over, also where they fill a page", async () => {
  const report = await shop.paid();
  for (let i = 0; i < 120; i++) rig.stripe.moveBalance(i % 2 ? "stripe_fee" : "payout", i % 2 ? null : "po_1", -1);
  const others = rig.stripe.createIntent({ amount: 900, currency: "eur" });
  const othersRefund = rig.stripe.refund(rig.stripe.pay(others.id), 100);
  rig.stripe.dispute(others.id);
  const lines = await today();
  assert.deepEqual(
    lines.map(({ ref }) => ref),
    [report.ref],
    `neither ${others.id} nor ${othersRefund.id}`,
  );
});

test("a statement goes through all of Stripe's pages", async () => {
  const { ref } = await shop.paid();
  const refunds = Array.from({ length: 101 }, () => rig.stripe.refund(rig.stripe.intent(ref), 1).id);
  const lines = await today();
  assert.deepEqual(
    only(lines, "refund").map((line) => line.ref),
    refunds.toReversed(),
  );
  assert.deepEqual(
    only(lines, "payment").map((line) => line.intentRef),
    [ref],
  );
});

const eventsFrom = async (since: Date | undefined): Promise<ProcessorEvent[]> => {
  const events: ProcessorEvent[] = [];
  let after = "";
  do {
    const answer = await rig.connector.readEvents?.(rig.account, since, after);
    if (!answer) throw new Error("no event list");
    const page = valueIn(answer);
    events.push(...page.events);
    after = page.next;
  } while (after !== "");
  return events;
};

test("the event list has every change since a time of Stripe's, page by page, without webhooks", async () => {
  rig.fake.clockOffsetMs = -3_600_000;
  const old = await shop.created();
  ago(2, () => rig.stripe.pay(old.report.ref));
  const since = new Date(rig.stripe.now() * 1_000);
  const report = await shop.paid();
  for (let i = 0; i < 120; i++) rig.stripe.refund(rig.stripe.intent(report.ref), 1);
  const { id } = rig.stripe.dispute(report.ref);
  rig.stripe.moveDispute(id, "lost");
  const events = await eventsFrom(since);
  assert.ok(events.every(({ intentRef, createdAt }) => intentRef === report.ref && createdAt >= since));
  assert.equal(events.filter(({ type }) => type === "refund.created").length, 120);
  for (const type of ["payment_intent.succeeded", "charge.dispute.created", "charge.dispute.closed"]) {
    assert.equal(events.filter((event) => event.type === type).length, 1, type);
  }
  assert.equal(new Set(events.map((event) => event.id)).size, events.length);
});

test("without a time only the newest page of events is read, and events without our reference are marked", async () => {
  const report = await shop.paid();
  for (let i = 0; i < 150; i++) rig.stripe.refund(rig.stripe.intent(report.ref), 1);
  assert.equal((await eventsFrom(undefined)).length, 100);
  const others = rig.stripe.createIntent({ amount: 900, currency: "eur" });
  rig.stripe.pay(others.id);
  const newest = await eventsFrom(undefined);
  const succeeded = newest.find(({ type }) => type === "payment_intent.succeeded");
  assert.deepEqual([succeeded?.intentRef, succeeded?.isUnclaimed], [others.id, true]);
});

test("an event is read the same from the list, from a webhook, and in the shape of any API version", async () => {
  const report = await shop.paid();
  rig.stripe.returnCharge(report.ref);
  const read = async (version: string) => {
    rig.stripe.eventVersion = version;
    return await eventsFrom(new Date(0));
  };
  const now = await read("2026-10-28.endive");
  for (const version of ["2022-08-01", "2018-11-08"]) {
    assert.deepEqual(await read(version), now, version);
    const sent = [];
    for (const event of rig.stripe.events) {
      const { body, headers } = rig.deliver(event, version);
      sent.push(...(await rig.connector.readWebhook(rig.account, body, headers)));
    }
    assert.deepEqual(sent.filter(({ intentRef }) => intentRef !== "").toReversed(), now, `webhooks of ${version}`);
  }
});

test.run();
