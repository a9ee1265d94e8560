// The simulator connector's conclusion from each kind of call failure, and no further conclusion.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { IntentOrder, RefundOrder } from "../../services/payments/connectors/order.ts";
import { eventually } from "../harness/eventually.ts";
import { cards } from "../harness/pay.ts";
import { suite } from "../harness/suite.ts";
import { factKinds, valueIn } from "./contract.ts";
import { startSimulatorRig } from "./simulator-rig.ts";

const test = suite("simulator connector: answers", { timeoutMs: 20_000 });
let it: Awaited<ReturnType<typeof startSimulatorRig>>;

test.before(async () => {
  it = await startSimulatorRig();
});
test.afterEach(() => it.rig.call("DELETE", "/test/faults"));
test.after(() => it.stop());

const order = (members: Partial<IntentOrder> = {}): IntentOrder => ({
  reference: newId("payment"),
  amount: 1_050n,
  currency: "EUR",
  description: "Order 7",
  returnUrl: "",
  surface: "embedded",
  captureMethod: "automatic",
  lineItems: [],
  ...members,
});
const refundOf = (intentRef: string, amount = 100n): RefundOrder => ({
  intentRef,
  reference: newId("refund"),
  amount,
  currency: "EUR",
  reason: "requested",
});
const fault = (members: object) => it.rig.call("PUT", "/test/faults", members);
const create = (wanted: IntentOrder, key: string) => it.connector.createIntent(it.account, wanted, key);
const find = ({ reference, surface }: IntentOrder) => it.connector.findIntent(it.account, { reference, surface });

test("whatever the processor does with a call, an answer that is not its own last word is unknown", async () => {
  for (const [kind, isDone] of [
    ["edge_error", false], // 503 HTML
    ["too_many", false], // 429
    ["conflict", false], // 409
    ["error_before", false], // 500
    ["error_after", true], // 500
    ["cut", true],
    ["hang_after", true],
  ] as const) {
    await fault({ target: "api.intents.create", kind, count: 1 });
    const wanted = order();
    assert.equal((await create(wanted, newId("operation"))).kind, "unknown", kind);
    assert.equal((await find(wanted)).kind, isDone ? "succeeded" : "not_found", kind);
  }
});

test("a 502 whose work goes on is unknown, so is its key meanwhile, and the same key then brings the one object", async () => {
  await fault({ target: "api.intents.create", kind: "answer_early", ms: 1_500, count: 1 });
  const [wanted, key] = [order(), newId("operation")];
  assert.equal((await create(wanted, key)).kind, "unknown");
  assert.equal((await create(wanted, key)).kind, "unknown", "409, in use");
  assert.equal((await find(wanted)).kind, "not_found", "which proves nothing yet");
  const made = await eventually("the object", async () => {
    const answer = await create(wanted, key);
    return answer.kind === "succeeded" && answer.value;
  });
  assert.equal(valueIn(await find(wanted)).report.ref, made.report.ref);
});

test("a refund whose work outlives a 500 is unknown under its key for good, and found by its reference", async () => {
  const { id } = await it.rig.paidIntent();
  await fault({ target: "api.refunds.create", kind: "error_during", ms: 500, count: 1 });
  const [wanted, key] = [refundOf(id), newId("operation")];
  assert.equal((await it.connector.createRefund(it.account, wanted, key)).kind, "unknown");
  await eventually("the refund", async () => (await it.connector.findRefund(it.account, wanted)).kind === "succeeded");
  assert.equal((await it.connector.createRefund(it.account, wanted, key)).kind, "unknown", "the stored 500");
});

test("an intent that the processor lost is not found, with the processor's own time", async () => {
  const { id, reference } = await it.rig.paidIntent();
  await it.rig.call("POST", `/test/intents/${id}/lose`);
  const answers = [
    await it.connector.retrieveIntent(it.account, id),
    await it.connector.findIntent(it.account, { reference, surface: "embedded" }),
  ];
  for (const answer of answers) assert.ok(answer.kind === "not_found" && answer.at, answer.kind);
});

test("a returned debit is reported as a failed attempt and a captured amount of zero", async () => {
  const { id, attempts } = await it.rig.paidIntent();
  const since = new Date();
  await it.rig.call("POST", `/test/intents/${id}/return`);
  const report = valueIn(await it.connector.retrieveIntent(it.account, id));
  assert.deepEqual(factKinds(report), ["attempt_failed"]);
  const [fact] = report.facts;
  assert.ok(fact?.kind === "attempt_failed");
  assert.deepEqual([fact.attempt.ref, fact.code], [attempts[0]?.id, "debit_returned"]);
  assert.ok(fact.at >= since);
  const period = { from: since, to: new Date(Date.now() + 1_000) };
  const lines = valueIn((await it.connector.readStatement?.(it.account, period, "")) ?? assert.fail()).lines;
  assert.deepEqual(
    lines.filter(({ ref }) => ref === id),
    [{ object: "payment", ref: id, intentRef: id, amount: 0n, currency: "EUR", status: "" }],
  );
});

test("a lost webhook's event is in the list with its whole report", async () => {
  await fault({ target: "webhooks", kind: "lose" });
  const { id } = await it.rig.intent();
  for (const card of [cards.declined, cards.succeeds]) await it.rig.call("POST", `/test/intents/${id}/pay`, { card });
  const answer = await it.connector.readEvents?.(it.account, undefined, "");
  assert.ok(answer);
  const page = valueIn(answer);
  const reported = page.events.filter(({ report }) => report?.ref === id);
  assert.deepEqual(
    reported.map(({ type, report }) => [type, report && factKinds(report)]),
    [
      ["intent.attempt_failed", ["attempt_failed"]],
      ["intent.succeeded", ["attempt_failed", "attempt_succeeded"]],
    ],
  );
  assert.equal(page.next, "", "the newest page and no more");
  const since = new Date(Date.now() + 1);
  await eventually("the next millisecond", () => Date.now() > since.getTime(), { everyMs: 1 });
  for (const _ of [1, 2, 3]) await it.rig.call("POST", `/test/intents/${id}/refunds`, { amount: 1 });
  const later = valueIn((await it.connector.readEvents?.(it.account, since, "")) ?? assert.fail());
  assert.deepEqual(
    later.events.map(({ report }) => report?.refunds.length),
    [1, 2, 3],
  );
  assert.ok(later.events.every(({ createdAt }) => createdAt >= since));
});

test("a list that is too long for one answer goes on with the next, and has each event once", async () => {
  const { id } = await it.rig.paidIntent();
  const since = new Date(Date.now() - 60_000);
  const amounts = Array.from({ length: 100 }, (_, i) => i + 1);
  for (const _ of amounts) await it.rig.call("POST", `/test/intents/${id}/refunds`, { amount: 1 });
  const [counts, pages]: [number[], string[]] = [[], []];
  do {
    const answer = await it.connector.readEvents?.(it.account, since, pages.at(-1) ?? "");
    const { events, next } = valueIn(answer ?? assert.fail());
    for (const { report } of events) if (report?.ref === id) counts.push(report.refunds.length);
    pages.push(next);
  } while (pages.at(-1) !== "");
  assert.deepEqual(counts, [0, ...amounts]);
  assert.ok(pages.length > 1, "an intent of 100 refunds fills more than a page");
});

test.run();
