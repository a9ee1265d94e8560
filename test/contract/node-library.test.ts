// The server library for Node against the running system: it serves a merchant's whole day, has a class for each error,
// and retries safe requests under one key. docs-calls.test.ts makes the call of every operation.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  AuthenticationError,
  answerOf,
  ConflictError,
  ConnectionFailedError,
  ConnectorError,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RefusedError,
  ServiceError,
  SignatureVerificationError,
  TimedOutError,
  Tollbooth,
  TollboothError,
  UnexpectedAnswerError,
  verifyWebhook,
} from "../../gateway/clients/node/tollbooth.ts";
import { makePurchase } from "../console/purchases.ts";
import { freshKey, freshMerchant } from "../harness/merchant.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { type FaultyProxy, startFaultyProxy } from "../harness/servers/faulty-proxy.ts";
import { contractSuite } from "./caller.ts";
import { failProcessor } from "./operator.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running, merchant } = contractSuite("Node library", { timeoutMs: 60_000 });
let receiver: Receiver;
let proxy: FaultyProxy;
let tollbooth: Tollbooth;
/** Through the troubled way, without waiting. */
let troubled: Tollbooth;
const pauses: number[] = [];

test.before(async () => {
  receiver = await startReceiver(running.tls);
  proxy = await startFaultyProxy(running.gateway);
  tollbooth = new Tollbooth({ apiKey: merchant.apiKey, baseUrl: running.gateway });
  troubled = new Tollbooth({
    apiKey: merchant.apiKey,
    baseUrl: proxy.url,
    random: () => 0.5,
    clock: { now: () => performance.now(), sleep: async (ms) => void pauses.push(ms) },
  });
});
test.after(async () => {
  await receiver.close();
  await proxy.close();
});

const paid = async (amount = 1050) => (await makePurchase(running, merchant, { amount })).payment;

async function failure(call: PromiseLike<unknown>): Promise<TollboothError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof TollboothError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

test("a merchant's day: create, pay, a verified webhook, read, refund", async () => {
  const endpoint = await tollbooth.webhookEndpoints.create({
    url: `${receiver.url}/hook`,
    event_types: ["payment.succeeded", "payment.refunded"],
  });
  assert.ok(endpoint.signing_secret);
  const paymentId = await paid();
  const delivery = await receiver.waitFor(({ headers }) => headers["service-event"] === "payment.succeeded");
  const header = String(delivery.headers["service-signature"]);
  const event = verifyWebhook(delivery.body, header, endpoint.signing_secret);
  assert.equal(event.type === "payment.succeeded" && event.payment_id, paymentId);
  assert.throws(
    () => verifyWebhook(Buffer.concat([delivery.body, Buffer.from(" ")]), header, endpoint.signing_secret ?? ""),
    SignatureVerificationError,
  );
  const refund = await tollbooth.refunds.create(paymentId, { amount: 400 }, { idempotencyKey: "refund of order 7" });
  const again = await tollbooth.refunds.create(paymentId, { amount: 400 }, { idempotencyKey: "refund of order 7" });
  assert.deepEqual([again.id, again.refunded], [refund.id, 400]);
  assert.deepEqual([answerOf(refund)?.isReplay, answerOf(again)?.isReplay], [false, true]);
  assert.match(answerOf(again)?.requestId ?? "", /^req_/);
  const payment = await tollbooth.payments.get(paymentId);
  assert.deepEqual([payment.status, payment.refunded_amount], ["partially_refunded", 400]);
  await tollbooth.webhookEndpoints.delete(endpoint.id);
});

test("an answer's secret can be read and sent, and is hidden from printing", async () => {
  const session = await tollbooth.checkoutSessions.create({ amount: 1000, currency: "EUR" });
  const secrets = [session.session_secret, session.render.client_secret ?? "", merchant.apiKey];
  const shown = [
    inspect(session, { depth: 9 }),
    inspect({ session }),
    inspect(tollbooth, { depth: 9, showHidden: true }),
  ];
  for (const secret of secrets) for (const text of shown) assert.ok(!text.includes(secret), text);
  assert.ok(inspect(session).includes(session.id));
  assert.equal(JSON.parse(JSON.stringify(session)).session_secret, session.session_secret);
});

test("a list is every object once, and one page at a time", async () => {
  const own = await freshMerchant(running);
  const client = new Tollbooth({ apiKey: own.apiKey, baseUrl: running.gateway });
  const made: string[] = [];
  for (let i = 0; i < 5; i++) made.unshift((await client.checkoutSessions.create({ amount: 100, currency: "EUR" })).id);
  const seen: string[] = [];
  for await (const session of client.checkoutSessions.list({ limit: 2 })) {
    // One that comes meanwhile moves nothing.
    if (seen.length === 1) await client.checkoutSessions.create({ amount: 100, currency: "EUR" });
    seen.push(session.id);
  }
  assert.deepEqual(seen, made);
  const first = await client.checkoutSessions.list({ limit: 2, offset: 1 });
  assert.deepEqual([first.data.map(({ id }) => id), first.total, first.has_more], [made.slice(0, 2), 6, true]);
  const second = await first.nextPage();
  assert.deepEqual(
    second?.data.map(({ id }) => id),
    made.slice(2, 4),
  );
  const pages: number[] = [];
  for await (const { data } of client.checkoutSessions.list({ limit: 4 }).pages()) pages.push(data.length);
  assert.deepEqual(pages, [4, 2]);
  const codes: string[] = [];
  for await (const { code } of client.eventTypes.list()) codes.push(code);
  assert.ok(codes.includes("payment.succeeded"));
});

test("each error has its class, the invalid field and the expected value", async () => {
  const params = { amount: 1000, currency: "EUR" };
  // A JavaScript program may send what the compiler would reject.
  const invalid = await failure(
    Reflect.apply(tollbooth.checkoutSessions.create, tollbooth.checkoutSessions, [{ amount: 0, currency: "euro" }]),
  );
  assert.ok(invalid instanceof InvalidRequestError);
  assert.deepEqual(invalid.details.map(({ field }) => field).toSorted(), ["amount", "currency"]);
  assert.match(invalid.message, /currency must look like EUR.*\(invalid_body, 400, req_\w+\)$/);

  const wrongKey = `${merchant.apiKey.slice(0, -1)}${merchant.apiKey.endsWith("A") ? "B" : "A"}`;
  const stranger = new Tollbooth({ apiKey: wrongKey, baseUrl: running.gateway });
  const unknown = await failure(stranger.merchant.get());
  assert.ok(unknown instanceof AuthenticationError && !inspect(unknown, { depth: 9 }).includes(wrongKey));
  const narrow = await freshKey(running, merchant.id, { scopes: ["payments:read"] });
  const reader = new Tollbooth({ apiKey: narrow, baseUrl: running.gateway });
  assert.ok((await failure(reader.checkoutSessions.create(params))) instanceof PermissionDeniedError);
  assert.ok((await failure(tollbooth.payments.get("pay_01jd3v9q6k8m2n4p6r8t0v2x4z"))) instanceof NotFoundError);

  await tollbooth.checkoutSessions.create(params, { idempotencyKey: "one key" });
  const reused = await failure(
    tollbooth.checkoutSessions.create({ ...params, amount: 7 }, { idempotencyKey: "one key" }),
  );
  assert.ok(reused instanceof ConflictError && reused.code === "idempotency_key_reuse");
  const refused = await failure(tollbooth.refunds.create(await paid(500), { amount: 501 }));
  assert.ok(refused instanceof RefusedError && refused.code === "amount_too_large" && refused.attempts === 1);

  await failProcessor(running, merchant, { target: "api.intents.create", kind: "error_before", count: 1 });
  const down = await failure(tollbooth.checkoutSessions.create(params, { maxRetries: 0 }));
  assert.ok(down instanceof ConnectorError && down.status === 502, down.message);
});

test("too many requests and an unavailable service come with the time to wait", async () => {
  const tight = await ownGateway(running, { RATE_LIMIT: "on", RATE_LIMIT_SANDBOX_PER_SECOND: "1" });
  const away = await ownGateway(running, { CHECKOUT_URL: "http://127.0.0.1:9" });
  const own = await freshMerchant(running);
  const hurried = new Tollbooth({ apiKey: own.apiKey, baseUrl: tight.gateway, maxRetries: 0 });
  const many = await Promise.all(Array.from({ length: 4 }, () => hurried.merchant.get().catch((error) => error)));
  const late = many.find((each) => each instanceof RateLimitError);
  assert.ok(late && Number(late.retryAfterSeconds) >= 1, String(many));
  const waiting = new Tollbooth({ apiKey: own.apiKey, baseUrl: away.gateway, maxRetries: 0 });
  const error = await failure(waiting.checkoutSessions.list());
  assert.ok(
    error instanceof ServiceError && error.code === "service_unavailable" && Number(error.retryAfterSeconds) >= 1,
  );
  await tight.stop();
  await away.stop();
});

test("an answer that was lost, and a part that was away, make one session under one key", async () => {
  const total = async () => (await tollbooth.checkoutSessions.list({ limit: 1 })).total ?? 0;
  const before = await total();
  const from = proxy.passed.length;
  pauses.length = 0;
  proxy.trouble("answer lost", "unavailable");
  const session = await troubled.checkoutSessions.create({ amount: 1000, currency: "EUR" });
  const keys = proxy.passed.slice(from).map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.deepEqual(pauses, [250, 1500]); // half of 500; Retry-After and half of 1,000
  assert.equal(answerOf(session)?.isReplay, true);
  assert.equal(await total(), before + 1);
  proxy.trouble("answer lost");
  await troubled.checkoutSessions.create({ amount: 1000, currency: "EUR" }, { idempotencyKey: "of the caller" });
  assert.equal(proxy.passed.at(-1)?.headers["idempotency-key"], "of the caller");
  assert.equal(await total(), before + 2);
});

test("what may have been done is not repeated without a key, and a read is", async () => {
  const from = proxy.passed.length;
  proxy.trouble("answer lost");
  const error = await failure(troubled.apiKeys.create({ name: "once" }));
  assert.ok(error instanceof ConnectionFailedError && error.attempts === 1);
  proxy.trouble("bad gateway");
  assert.ok((await failure(troubled.apiKeys.create({ name: "once" }))) instanceof ServiceError);
  assert.equal(proxy.passed.length, from + 2);
  proxy.trouble("answer lost", "bad gateway");
  await troubled.merchant.get();
  proxy.trouble("unavailable");
  await troubled.apiKeys.create({ name: "later" });
  assert.equal(proxy.passed.length, from + 7);
});

test("what does not speak as Tollbooth does is an error, and the key goes nowhere else", async () => {
  for (const trouble of ["redirect", "nonsense", "endless answer", "large number"] as const) {
    proxy.trouble(trouble);
    const error = await failure(troubled.payments.get("pay_x"));
    assert.ok(error instanceof UnexpectedAnswerError, `${trouble}: ${inspect(error)}`);
    assert.ok(!inspect(error, { depth: 9 }).includes("never_shown"));
    if (trouble === "redirect") assert.match(error.message, /redirects \(HTTP 307\), which is not followed/);
  }
  proxy.trouble("deep answer");
  const deep = await failure(troubled.payments.get("pay_x"));
  assert.ok(deep instanceof UnexpectedAnswerError && deep.message.endsWith("is not Tollbooth's JSON"), deep.message);
  proxy.trouble("deep refusal");
  assert.ok((await failure(troubled.payments.get("pay_x"))) instanceof UnexpectedAnswerError);
  proxy.trouble("half an answer", "half an answer", "half an answer");
  assert.ok((await failure(troubled.payments.get("pay_x"))) instanceof ConnectionFailedError);
  proxy.trouble("silence");
  const late = await failure(troubled.payments.get("pay_x", { timeoutMs: 100, maxRetries: 0 }));
  assert.ok(late instanceof TimedOutError);
  proxy.trouble("silence");
  const reason = new Error("the shop closes");
  await assert.rejects(troubled.payments.get("pay_x", { signal: AbortSignal.abort(reason) }), reason);
});

test("no error contains the key, even if the server echoes it", async () => {
  for (const key of [merchant.apiKey, "any-other-words-as-a-key"]) {
    const client = new Tollbooth({ apiKey: key, baseUrl: proxy.url });
    proxy.trouble("key echoed");
    const error = await failure(client.payments.get("pay_x"));
    assert.ok(error instanceof InvalidRequestError, inspect(error));
    for (const text of [String(error), String(error.stack), inspect(error, { depth: 9 }), JSON.stringify(error)]) {
      assert.ok(!text.includes(key) && !text.includes(key.slice(12)), text);
    }
    assert.deepEqual([error.code, error.requestId], ["no_[secret]", "[secret]"]);
    assert.deepEqual(error.details, [{ field: "[secret]", problem: "not liked: Bearer [secret]" }]);
  }
});

test("onboarding needs no key, and nothing else works without one", async () => {
  const open = new Tollbooth({ baseUrl: running.gateway });
  const application = await open.applications.create({ legal_name: "Lemon Books GmbH" });
  assert.equal((await open.applications.get(application.id)).status, "draft");
  await assert.rejects(open.merchant.get(), TypeError);
});

test.run();
