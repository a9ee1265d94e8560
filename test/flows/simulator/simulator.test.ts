// The simulator's API: authentication, validation, idempotency keys, and concurrent payments and refunds.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { cardThatSucceeds, simulatorCaller, startRig } from "./service.ts";

const test = suite("simulator");

const rig = fixture(test, () => startRig());

interface ErrorBody {
  readonly error: { readonly type: string; readonly code: string; readonly intent?: { readonly status: string } };
}
const wanted = { amount: 1_050, currency: "eur", reference: "pay_same" };
const atOnce = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

test("a call without the right key, or without an account, is 401", async () => {
  const { call } = rig;
  const wrongKey = await call("GET", "/api/intents?reference=x", undefined, { authorization: "Bearer wrong" });
  const noAccount = await call("GET", "/api/intents?reference=x", undefined, { "processor-account": "shop" });
  const noKeyForFaults = await call("GET", "/test/faults", undefined, { authorization: "" });
  const otherSpelling = await call("GET", "/%61pi/intents?reference=x", undefined, { authorization: "" });
  const statuses = [wrongKey, noAccount, noKeyForFaults, otherSpelling].map(({ status }) => status);
  assert.equal(statuses, [401, 401, 401, 401]);
});

test("another account's objects are 404", async () => {
  const { id } = await rig.paidIntent();
  const refund = await rig.call("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_mine" });
  const stranger = simulatorCaller(rig.url, "acct_stranger");
  const answers = [
    await stranger("GET", `/api/intents/${id}`),
    await stranger("POST", `/api/intents/${id}/cancel`),
    await stranger("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_theirs" }),
    await stranger("GET", `/api/refunds/${refund.body.id}`),
  ];
  assert.equal(
    answers.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.equal((await stranger("GET", "/api/refunds?reference=re_mine")).body, { data: [] });
});

test("a malformed request is 400 and names the field", async () => {
  const fieldOf = async (members: object) => {
    const { status, body } = await rig.call<{ error: { field: string } }>("POST", "/api/intents", {
      ...wanted,
      ...members,
    });
    return status === 400 ? body.error.field : status;
  };
  assert.is(await fieldOf({ amount: 0 }), "amount");
  assert.is(await fieldOf({ amount: 10.5 }), "amount");
  assert.is(await fieldOf({ amount: "1050" }), "amount");
  assert.is(await fieldOf({ currency: "EURO" }), "currency");
  assert.is(await fieldOf({ reference: "" }), "reference");
  assert.is(await fieldOf({ description: "a\0b" }), "description");
  assert.is(await fieldOf({ description: "\ud800" }), "description");
  assert.is(await fieldOf({ return_url: "javascript:alert(1)" }), "return_url");
  assert.is(await fieldOf({ description: "two\nlines" }), 201);
});

test("the same idempotency key repeats the first answer", async () => {
  const key = { "idempotency-key": "key-1" };
  const first = await rig.call("POST", "/api/intents", { ...wanted, reference: "pay_key_1" }, key);
  const reordered = { reference: "pay_key_1", currency: wanted.currency, amount: wanted.amount };
  const again = await rig.call("POST", "/api/intents", reordered, key);
  assert.is(first.status, 201);
  assert.is(first.headers.get("idempotent-replayed"), null);
  assert.is(again.headers.get("idempotent-replayed"), "true");
  assert.equal([again.status, again.body], [201, first.body]);
  const { body } = await rig.call<{ data: unknown[] }>("GET", "/api/intents?reference=pay_key_1");
  assert.is(body.data.length, 1);
});

test("a key with other parameters is refused, on another account it is a separate key", async () => {
  const key = { "idempotency-key": "key-2" };
  await rig.call("POST", "/api/intents", wanted, key);
  const other = await rig.call<ErrorBody>("POST", "/api/intents", { ...wanted, amount: 1 }, key);
  assert.equal([other.status, other.body.error.type], [400, "idempotency_error"]);
  const elsewhere = await simulatorCaller(rig.url, "acct_elsewhere")(
    "POST",
    "/api/intents",
    { ...wanted, amount: 1 },
    key,
  );
  assert.is(elsewhere.status, 201);
});

test("a refusal is kept for its key", async () => {
  const { id } = await rig.paidIntent();
  const key = { "idempotency-key": "key-3" };
  const tooMuch = { intent: id, amount: 9_999, reference: "re_key_3" };
  const first = await rig.call<ErrorBody>("POST", "/api/refunds", tooMuch, key);
  const again = await rig.call<ErrorBody>("POST", "/api/refunds", tooMuch, key);
  assert.equal([first.status, first.body.error.code], [400, "amount_too_large"]);
  assert.equal(again.body, first.body);
  assert.is(again.headers.get("idempotent-replayed"), "true");
});

test("a key in progress is 409, and concurrent requests with one key work once", async () => {
  const reference = "pay_in_progress";
  await rig.call("PUT", "/test/faults", {
    target: "api.intents.create",
    kind: "delay",
    ms: 1_000,
    reference,
    count: 1,
  });
  const key = { "idempotency-key": "key-4" };
  const answers = await atOnce(5, () => rig.call("POST", "/api/intents", { ...wanted, reference }, key));
  const statuses = answers.map(({ status }) => status).sort();
  assert.equal(statuses, [201, 409, 409, 409, 409]);
  const { body } = await rig.call<{ data: unknown[] }>("GET", `/test/operations?reference=${reference}`);
  assert.is(body.data.length, 1);
  await rig.call("DELETE", "/test/faults");
});

test("an intent is paid once under concurrent payments", async () => {
  const { id, client_secret } = await rig.intent();
  const card = { client_secret, number: cardThatSucceeds, exp_month: 12, exp_year: 2040, cvc: "123" };
  await atOnce(20, () => rig.call("GET", `/api/intents/${id}`)); // opens all connections
  const answers = await atOnce(20, () => rig.call("POST", `/form/${id}/pay`, card));
  assert.ok(answers.every(({ status, body }) => status === 200 && body.status === "succeeded"));
  const { body } = await rig.call("GET", `/api/intents/${id}`);
  assert.is(body.captured_amount, 1_050);
  assert.is(body.attempts.length, 1);
});

test("concurrent refunds never exceed the captured amount", async () => {
  const { id } = await rig.paidIntent();
  const answers = await atOnce(20, (i) =>
    rig.call<ErrorBody>("POST", "/api/refunds", { intent: id, amount: 100, reference: `re_race_${i}` }),
  );
  const created = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body.error.code);
  assert.is(created.length, 10);
  assert.equal(new Set(refused), new Set(["amount_too_large"]));
  const { body } = await rig.call("GET", `/api/intents/${id}`);
  assert.is(body.refunds.length, 10);
});

test("of a concurrent cancellation and payment one succeeds", async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await rig.intent();
    await Promise.all([
      rig.call("POST", `/api/intents/${id}/cancel`),
      rig.call("POST", `/test/intents/${id}/pay`, { card: cardThatSucceeds }),
    ]);
    const { body } = await rig.call("GET", `/api/intents/${id}`);
    assert.is(body.captured_amount, body.status === "succeeded" ? 1_050 : 0);
    assert.ok(["succeeded", "canceled"].includes(body.status));
  }
});

test("the operations of a reference list each POST that did work, and no repeat", async () => {
  const key = { "idempotency-key": "key-ops" };
  await rig.call("POST", "/api/intents", { ...wanted, reference: "pay_ops" }, key);
  await rig.call("POST", "/api/intents", { ...wanted, reference: "pay_ops" }, key);
  await eventually("one operation", async () => {
    const { body } = await rig.call<{ data: { idempotency_key: string }[] }>(
      "GET",
      "/test/operations?reference=pay_ops",
    );
    return body.data.length === 1 && body.data[0]?.idempotency_key === "key-ops";
  });
});

test.run();
