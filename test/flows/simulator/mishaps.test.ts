// What the simulator does to payments that no caller asked for: debits that come back, second charges and refunds,
// other amounts, objects that are lost; that the statement tells of money when it moved; and keys that are forgotten.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { caller, cardThatSucceeds, type SimulatorRig, startRig } from "./service.ts";

const test = suite("simulator-mishaps");
let rig: SimulatorRig;

test.before(async () => {
  rig = await startRig();
});
test.after(() => rig.stop());

interface ErrorBody {
  readonly error: { readonly code: string };
}
interface StatementRow {
  readonly type: string;
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly failure_code: string | null;
}

const read = async (id: string) => (await rig.call("GET", `/api/intents/${id}`)).body;
const eventsOf = async (id: string) =>
  (await rig.call<{ data: { type: string }[] }>("GET", `/test/events?intent=${id}`)).body.data.map(({ type }) => type);
const byReference = async (path: string, reference: string) =>
  (await rig.call<{ data: { id: string }[] }>("GET", `${path}?reference=${reference}`)).body.data.map(({ id }) => id);

/** What the statement says of an object between two moments. */
async function statementRows(id: string, from: Date, to: Date): Promise<StatementRow[]> {
  const path = `/api/statement?from=${from.toISOString()}&to=${to.toISOString()}&limit=500`;
  const { data } = (await rig.call<{ data: StatementRow[] }>("GET", path)).body;
  return data.filter((row) => row.id === id);
}

/** The next millisecond: what happened before it and what happens from it on are of two periods. */
async function newPeriod(): Promise<Date> {
  const begin = Date.now();
  await eventually("the next millisecond", () => Date.now() > begin, { everyMs: 1 });
  return new Date();
}

const beginning = new Date(0);
const end = new Date("2100-01-01T00:00:00Z");

test("a debit that comes back fails the attempt that had succeeded, and the statement has it in the period of the return", async () => {
  const { id, attempts } = await rig.paidIntent();
  const before = await newPeriod();
  assert.is((await rig.call("POST", `/test/intents/${id}/return`)).status, 200);
  const returned = await read(id);
  assert.equal([returned.status, returned.captured_amount, returned.receipt_url], ["requires_payment_method", 0, null]);
  const [attempt] = returned.attempts;
  assert.equal([attempt?.id, attempt?.status, attempt?.failure_code], [attempts[0]?.id, "failed", "debit_returned"]);
  assert.equal(await eventsOf(id), ["intent.succeeded", "intent.attempt_failed"]);
  assert.equal(await statementRows(id, beginning, before), []);
  const [row, ...others] = await statementRows(id, before, end);
  assert.equal(
    [row?.type, row?.amount, row?.status, row?.failure_code],
    ["intent", 0, "requires_payment_method", "debit_returned"],
  );
  assert.is(others.length, 0);
  const again = await rig.call<ErrorBody>("POST", `/test/intents/${id}/return`);
  assert.equal([again.status, again.body.error.code], [400, "intent_not_returnable"]);
});

test("a debit comes back after a refund, and another card pays what is then captured once", async () => {
  const { id } = await rig.paidIntent();
  await rig.call("POST", `/test/intents/${id}/refunds`, { amount: 400 });
  await rig.call("POST", `/test/intents/${id}/return`);
  assert.equal(
    (await read(id)).refunds.map(({ status }) => status),
    ["succeeded"],
  );
  await rig.call("POST", `/test/intents/${id}/pay`, { card: cardThatSucceeds });
  const paid = await read(id);
  assert.equal([paid.status, paid.captured_amount, paid.attempts.length], ["succeeded", 1_050, 2]);
  const rows = await statementRows(id, beginning, end);
  assert.equal(
    rows.map(({ amount, failure_code }) => [amount, failure_code]),
    [[1_050, null]],
  );
});

test("a refund that fails and a dispute that moves are in the statement of the period in which their money moved", async () => {
  const { id } = await rig.paidIntent();
  const { body: refund } = await rig.call("POST", `/test/intents/${id}/refunds`, { amount: 10 });
  const { body: dispute } = await rig.call("POST", `/test/intents/${id}/disputes`, { amount: 20 });
  const before = await newPeriod();
  await rig.call("POST", `/test/refunds/${refund.id}`, { status: "failed", failure_code: "declined" });
  await rig.call("POST", `/test/disputes/${dispute.id}`, { status: "lost" });
  for (const [object, status] of [
    [refund.id, "failed"],
    [dispute.id, "lost"],
  ] as const) {
    assert.equal(await statementRows(object, beginning, before), []);
    assert.equal(
      (await statementRows(object, before, end)).map((row) => row.status),
      [status],
    );
  }
  assert.is((await statementRows(id, beginning, before)).length, 1);
});

test("a second charge has the same reference, money and an event of its own, and nobody who asked for it", async () => {
  const first = await rig.paidIntent();
  const { status, body: second } = await rig.call("POST", `/test/intents/${first.id}/duplicate`, {});
  assert.equal([status, second.status, second.captured_amount], [201, "succeeded", 1_050]);
  assert.equal([second.reference, second.account], [first.reference, first.account]);
  const { body: third } = await rig.call("POST", `/test/intents/${first.id}/duplicate`, { amount: 9 });
  assert.is(third.captured_amount, 9);
  assert.equal(await byReference("/api/intents", first.reference), [first.id, second.id, third.id]);
  assert.equal(await eventsOf(second.id), ["intent.succeeded"]);
  const operations = await rig.call<{ data: object[] }>("GET", `/test/operations?reference=${first.reference}`);
  assert.is(operations.body.data.length, 1);
});

test("a second refund has the same reference, within what is left of the charge", async () => {
  const { id } = await rig.paidIntent();
  const reference = `re_${id}`;
  const { body: first } = await rig.call("POST", "/api/refunds", { intent: id, amount: 500, reference });
  const { status, body: second } = await rig.call("POST", `/test/refunds/${first.id}/duplicate`, {});
  assert.is(status, 201);
  assert.equal(await byReference("/api/refunds", reference), [first.id, second.id]);
  assert.equal(
    (await read(id)).refunds.map(({ amount }) => amount),
    [500, 500],
  );
  const tooMuch = await rig.call<ErrorBody>("POST", `/test/refunds/${first.id}/duplicate`, {});
  assert.is(tooMuch.body.error.code, "amount_too_large");
  assert.is((await rig.call("POST", `/test/refunds/${first.id}/duplicate`, { amount: 50 })).status, 201);
});

test("an unpaid intent gets another amount, which is then what is captured; a paid one keeps its own", async () => {
  const { id } = await rig.intent();
  const { body } = await rig.call("POST", `/test/intents/${id}/amount`, { amount: 60_000 });
  assert.is(body.amount, 60_000);
  await rig.call("POST", `/test/intents/${id}/pay`, { card: cardThatSucceeds });
  assert.is((await read(id)).captured_amount, 60_000);
  const late = await rig.call<ErrorBody>("POST", `/test/intents/${id}/amount`, { amount: 1 });
  assert.equal([late.status, late.body.error.code], [400, "intent_not_changeable"]);
});

test("a lost intent is 404 wherever it is asked for, in no list, and still there for tests", async () => {
  const { id, reference, client_secret } = await rig.paidIntent();
  const refundReference = `re_${id}`;
  const order = { intent: id, amount: 5, reference: refundReference };
  const { body: refund } = await rig.call("POST", "/api/refunds", order);
  const began = new Date(Date.now() - 60_000).toISOString();
  const events = async () =>
    (
      await rig.call<{ data: { data: { intent: { id: string } } }[] }>("GET", `/api/events?since=${began}&limit=500`)
    ).body.data.filter((event) => event.data.intent.id === id).length;
  assert.is(await events(), 2);
  assert.is((await rig.call("POST", `/test/intents/${id}/lose`)).status, 200);
  for (const answer of [
    await rig.call("GET", `/api/intents/${id}`),
    await rig.call("POST", `/api/intents/${id}/cancel`),
    await rig.call("POST", "/api/refunds", { ...order, amount: 6 }),
    await rig.call("GET", `/api/refunds/${refund.id}`),
    await rig.call("POST", `/form/${id}/status`, { client_secret }),
  ])
    assert.is(answer.status, 404);
  assert.equal(await byReference("/api/intents", reference), []);
  assert.equal(await byReference("/api/refunds", refundReference), []);
  assert.equal([await statementRows(id, beginning, end), await statementRows(refund.id, beginning, end)], [[], []]);
  assert.is(await events(), 0);
  assert.is((await rig.call("POST", `/test/intents/${id}/disputes`, {})).status, 201);
});

test("a key is forgotten at the end of its life: the same request makes a second object", async () => {
  const own = await startRig(undefined, { keySeconds: 1 });
  const call = caller(own.url);
  const create = () =>
    call("POST", "/api/intents", { amount: 5, currency: "EUR", reference: "pay_life" }, { "idempotency-key": "kl" });
  const { body: first } = await create();
  const second = await eventually("the key to be forgotten", async () => {
    const { headers, body } = await create();
    return headers.get("idempotent-replayed") === null && body;
  });
  assert.is.not(second.id, first.id);
  await own.stop();
});

test.run();
