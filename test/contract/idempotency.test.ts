// docs/contract.md §6, through HTTP: what an Idempotency-Key promises.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { disputedPurchase, makePurchase } from "../console/purchases.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cardToken } from "../harness/pay.ts";
import { type CallOptions, contractSuite } from "./caller.ts";
import { accountOf, allHaveFailed, type Fault, failProcessor } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("idempotency", { timeoutMs: 30_000 });
const order = { amount: 1050, currency: "EUR", metadata: { a: "1", b: "2" } };
let keys = 0;

const newKey = () => `key ${++keys}`;
const create = (key: string, body: unknown = order, as = merchant.apiKey) =>
  api.call("createCheckoutSession", 201, { as, body, headers: { "Idempotency-Key": key } });
const paidPayment = async () => (await makePurchase(running, merchant, order)).payment;
const replayed = (answer: Answer) => answer.headers.get("idempotent-replayed") === "true";

// Proves createCheckoutSession: replay
test("the same request answers the stored response, byte for byte, marked as replayed", async () => {
  const key = newKey();
  const [first, second] = [await create(key), await create(key)];
  assert.deepEqual([replayed(first), replayed(second)], [false, true]);
  assert.equal(second.raw, first.raw);
});

// Proves createCheckoutSession: reuse; errors: idempotency_key_reuse
test("order of names, white space and 1050.0 do not make another request; values do", async () => {
  const key = newKey();
  const first = await create(key);
  const shuffled = '{ "metadata": {"b":"2", "a":"1"}, "currency":"EUR", "amount":1050.0 }';
  assert.equal((await create(key, shuffled)).at("id"), first.at("id"));
  const others = [
    { ...order, amount: 1051 },
    { ...order, currency: "USD" },
    { ...order, metadata: { a: "1" } },
    { ...order, description: "x" },
  ];
  for (const body of others) {
    await api.refused("createCheckoutSession", 422, "idempotency_key_reuse", {
      body,
      headers: { "Idempotency-Key": key },
    });
  }
});

test("50 identical requests at once make one object: one works, the others conflict or replay it", async () => {
  const own = await freshMerchant(running);
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => own.api.post("/v1/checkout-sessions", order, { "Idempotency-Key": "storm" })),
  );
  for (const answer of answers) api.document.check("createCheckoutSession", answer);
  const worked = answers.filter((answer) => answer.status === 201);
  assert.ok(answers.every((answer) => [201, 409].includes(answer.status)));
  assert.equal(worked.filter((answer) => !replayed(answer)).length, 1);
  assert.equal(new Set(worked.map((answer) => answer.text("id"))).size, 1);
  const list = await own.api.get("/v1/checkout-sessions");
  assert.equal(list.number("total"), 1);
});

// Proves createRefund: replay
test("50 identical refunds at once refund once", async () => {
  const id = await paidPayment();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      merchant.api.post(`/v1/payments/${id}/refunds`, { amount: 100 }, { "Idempotency-Key": "refund storm" }),
    ),
  );
  assert.ok(answers.every((answer) => [201, 409].includes(answer.status)));
  assert.equal(answers.filter((answer) => answer.status === 201 && !replayed(answer)).length, 1);
  const record = await api.call("getPayment", 200, { path: { id } });
  assert.deepEqual([record.number("refunded_amount"), record.list("refunds").length], [100, 1]);
});

const heldPayment = async (of: TestMerchant) => (await makePurchase(running, of, { capture_method: "manual" })).payment;
const disputeOf = async (of: TestMerchant) => (await disputedPurchase(running, of)).dispute;

/** Idempotent operations that ask the processor: success, the processor's call, and a request. */
const slowOnes: readonly (readonly [string, number, Fault["target"], (of: TestMerchant) => Promise<CallOptions>])[] = [
  ["createCheckoutSession", 201, "api.intents.create", async () => ({ body: order })],
  [
    "createPayment",
    201,
    "api.intents.create",
    async (of) => ({ body: { ...order, payment_method: await cardToken(running.processor, await accountOf(of)) } }),
  ],
  [
    "createRefund",
    201,
    "api.refunds.create",
    async (of) => ({ path: { id: (await makePurchase(running, of)).payment } }),
  ],
  ["capturePayment", 200, "api.intents.capture", async (of) => ({ path: { id: await heldPayment(of) } })],
  ["cancelPayment", 200, "api.intents.cancel", async (of) => ({ path: { id: await heldPayment(of) } })],
  ["acceptDispute", 200, "api.disputes.accept", async (of) => ({ path: { id: await disputeOf(of) } })],
];

// Proves createCheckoutSession: in_flight; createRefund: in_flight; capturePayment: in_flight; cancelPayment: in_flight; acceptDispute: in_flight; errors: idempotency_conflict
test("docs/contract.md §6: a key whose request is in progress is idempotency_conflict", async () => {
  const conflicts = slowOnes.map(async ([operation, status, target, requestOf]) => {
    const slow = await freshMerchant(running);
    const sent = { as: slow.apiKey, headers: { "Idempotency-Key": "slow" }, ...(await requestOf(slow)) };
    await failProcessor(running, slow, { target, kind: "delay", ms: 2_500, count: 1 });
    const first = api.call(operation, status, sent);
    await eventually(`${operation} to be at the processor`, () => allHaveFailed(running, slow));
    const conflict = await api.refused(operation, 409, "idempotency_conflict", sent);
    assert.equal(conflict.headers.get("retry-after"), "1");
    await first;
  });
  await Promise.all(conflicts);
});

// Proves createRefund: reuse
test("the key of one merchant means nothing to another, and one of creating nothing to refunding elsewhere", async () => {
  const other = await freshMerchant(running);
  const key = newKey();
  const [mine, theirs] = [await create(key), await create(key, order, other.apiKey)];
  assert.notEqual(mine.at("id"), theirs.at("id"));
  assert.ok(!replayed(theirs));
  const [one, two] = [await paidPayment(), await paidPayment()];
  const headers = { "Idempotency-Key": newKey() };
  await api.call("createRefund", 201, { path: { id: one }, body: { amount: 1 }, headers });
  await api.refused("createRefund", 422, "idempotency_key_reuse", { path: { id: two }, body: { amount: 1 }, headers });
  await api.refused("createRefund", 422, "idempotency_key_reuse", { path: { id: one }, body: { amount: 2 }, headers });
});

test("errors decided after the work began are stored and replayed, marked as replays", async () => {
  const twice = async (operation: string, status: number, code: string, sent: CallOptions) => {
    const headers = { "Idempotency-Key": newKey() };
    const [first, second] = [
      await api.refused(operation, status, code, { ...sent, headers }),
      await api.refused(operation, status, code, { ...sent, headers }),
    ];
    assert.deepEqual([replayed(first), replayed(second)], [false, true], `${operation} ${code}`);
    assert.equal(second.raw, first.raw);
  };
  const blocked = { ...order, customer_email: "blocked@example.com" };
  await twice("createCheckoutSession", 402, "payment_blocked", { body: blocked });
  await twice("createPayment", 402, "payment_blocked", { body: { ...blocked, payment_method: "pm_any" } });
  const id = await paidPayment();
  await twice("createRefund", 422, "amount_too_large", { path: { id }, body: { amount: 5000 } });
});

test("a refusal of the key itself is no replay", async () => {
  const headers = { "Idempotency-Key": newKey() };
  await create(headers["Idempotency-Key"]);
  const other = { body: { ...order, amount: 1 }, headers };
  assert.ok(!replayed(await api.refused("createCheckoutSession", 422, "idempotency_key_reuse", other)));
});

test("a 400 is not stored: the same key serves the corrected request", async () => {
  const headers = { "Idempotency-Key": newKey() };
  await api.refused("createCheckoutSession", 400, "invalid_body", { body: { ...order, amount: 0 }, headers });
  await api.refused("createCheckoutSession", 400, "invalid_body", { body: { ...order, currency: "XXX" }, headers });
  await api.call("createCheckoutSession", 201, { body: order, headers });
});

test("after connector_error the same key goes on with the same object and makes one intent", async () => {
  const own = await freshMerchant(running);
  await failProcessor(running, own, { target: "api.intents.create", kind: "error_after", count: 1 });
  const headers = { "Idempotency-Key": newKey() };
  let answer = await own.api.post("/v1/checkout-sessions", order, headers);
  for (let tries = 0; answer.status === 502 && tries < 5; tries++) {
    answer = await own.api.post("/v1/checkout-sessions", order, headers);
  }
  assert.equal(answer.expect(201).headers.get("idempotent-replayed"), null);
  assert.equal((await own.api.get("/v1/checkout-sessions")).number("total"), 1);
});

test("1 to 255 printable ASCII characters are a key; empty, longer, doubled and other ones are invalid_body", async () => {
  for (const key of ["a", "~ !\"#$%&'()*+,-./:;<=>?@[]^_`{|}", "k".repeat(255)]) {
    assert.equal((await send([["Idempotency-Key", key]])).status, 201, key);
  }
  const wrong: [string, string][][] = [
    [["Idempotency-Key", ""]],
    [["Idempotency-Key", "k".repeat(256)]],
    [["Idempotency-Key", "schl\u00fcssel"]],
    [["Idempotency-Key", "tab\there"]],
    [
      ["Idempotency-Key", "one"],
      ["idempotency-key", "one"],
    ],
  ];
  for (const headers of wrong) {
    const { status, body } = await send(headers);
    assert.deepEqual(
      [status, body.error?.code, body.error?.details[0].field],
      [400, "invalid_body", "Idempotency-Key"],
    );
  }
});

/** Sends a creation with exactly these header fields. */
async function send(headers: [string, string][]) {
  const sent = request(`${running.gateway}/v1/checkout-sessions`, { method: "POST" });
  sent.setHeader("Authorization", `Bearer ${merchant.apiKey}`);
  sent.setHeader("Content-Type", "application/json");
  sent.setHeader(
    "Idempotency-Key",
    headers.map(([, value]) => value),
  );
  sent.end(JSON.stringify(order));
  const [answer]: IncomingMessage[] = await once(sent, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of answer ?? []) chunks.push(chunk);
  return { status: answer?.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

test("operations that do not honour keys ignore them", async () => {
  const headers = { "Idempotency-Key": "same" };
  const [one, two] = [
    await api.call("createApiKey", 201, { body: {}, headers }),
    await api.call("createApiKey", 201, { body: {}, headers }),
  ];
  assert.notEqual(one.text("api_key"), two.text("api_key"));
  await api.call("createApiKey", 201, { body: {}, headers: { "Idempotency-Key": "" } });
});

test.run();
