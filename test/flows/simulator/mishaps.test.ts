// The simulator's mishaps: returned debits, second charges and refunds, lost objects, forgotten keys; and their place
// in the statement.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { caller, startRig } from "./service.ts";

const test = suite("simulator-mishaps");

const rig = fixture(test, () => startRig());

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

/** Statement lines of an object in the period. */
async function statementRows(id: string, from: Date, to: Date): Promise<StatementRow[]> {
  const path = `/api/statement?from=${from.toISOString()}&to=${to.toISOString()}&limit=500`;
  const { data } = (await rig.call<{ data: StatementRow[] }>("GET", path)).body;
  return data.filter((row) => row.id === id);
}

/** The next millisecond, which starts a new statement period. */
async function newPeriod(): Promise<Date> {
  const begin = Date.now();
  await eventually("the next millisecond", () => Date.now() > begin, { everyMs: 1 });
  return new Date();
}

const beginning = new Date(0);
const end = new Date("2100-01-01T00:00:00Z");

test("a returned debit fails its attempt and is in the statement of the return's period", async () => {
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

test("failed refunds and changed disputes are in the statement of the period of the change", async () => {
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

test("a lost intent is 404 everywhere and in no list, but still available to tests", async () => {
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

test("a key is forgotten at the end of its life", async () => {
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
