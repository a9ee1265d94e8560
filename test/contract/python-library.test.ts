// The server library for Python against the running system, as node-library.test.ts does: python_library.py plays the
// scenes, this judges them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { python, runPython } from "../harness/files/python.ts";
import { freshKey, freshMerchant } from "../harness/merchant.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { type FaultyProxy, startFaultyProxy, type Trouble } from "../harness/servers/faulty-proxy.ts";
import { contractSuite } from "./caller.ts";
import { failProcessor } from "./operator.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running, merchant } = contractSuite("Python library", { timeoutMs: 60_000 });
const library = join(import.meta.dirname, "../../gateway/clients/python");
let receiver: Receiver;
let proxy: FaultyProxy;

test.before(async () => {
  receiver = await startReceiver(running.tls);
  proxy = await startFaultyProxy(running.gateway);
});
test.after(async () => {
  await receiver.close();
  await proxy.close();
});

type Body = () => Promise<void>;
const guarantee = (name: string, body: Body) =>
  python === undefined ? test.skip(name, "there is no Python 3.10 or newer") : test(name, body);

/** The result of a scene. */
async function scene(name: string, input: object = {}): Promise<unknown> {
  const words = [join(import.meta.dirname, "python_library.py"), name, JSON.stringify(input)];
  return JSON.parse(await runPython(words, { path: [library] }));
}

const ours = () => ({ gateway: running.gateway, api_key: merchant.apiKey });

guarantee("a merchant's day: create, pay, a verified webhook, read, refund; no secret is printed", async () => {
  const hook = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
  const secret = (await merchant.api.post("/v1/merchants/me/webhooks", hook)).expect(201).text("signing_secret");
  const { secrets, shown, payment_id, request_id, ...seen } = membersOf(await scene("day", ours()));
  assert.deepEqual(seen, {
    status: "partially_refunded",
    refunded: [400, 400, 400],
    absent: null,
    same: true,
    replays: [false, true],
    kept: true,
  });
  assert.match(String(request_id), /^req_/);
  assert.ok(Array.isArray(secrets) && Array.isArray(shown) && secrets.length === 3);
  for (const each of secrets) for (const text of shown) assert.ok(!String(text).includes(each), String(text));
  const delivery = await receiver.waitFor(({ headers }) => headers["service-event"] === "payment.succeeded");
  const header = String(delivery.headers["service-signature"]);
  const input = { body: delivery.body.toString(), header, secret };
  assert.deepEqual(await scene("webhook", input), ["PaymentSucceededEvent", "payment.succeeded", payment_id]);
  const forged = await scene("webhook", { ...input, body: `${input.body} ` }).catch((error) => String(error));
  assert.match(String(forged), /SignatureVerificationError: .*no v1 signature matches/);
});

guarantee("a list is every object once, and one page at a time", async () => {
  const own = await freshMerchant(running);
  assert.deepEqual(await scene("pages", { gateway: running.gateway, api_key: own.apiKey }), {
    same: true,
    first: true,
    facts: [6, true],
    second: true,
    sizes: [4, 2],
    types: true,
  });
});

guarantee("each error has its class, the invalid field and the expected value", async () => {
  const tight = await ownGateway(running, { RATE_LIMIT: "on", RATE_LIMIT_SANDBOX_PER_SECOND: "1" });
  const away = await ownGateway(running, { CHECKOUT_URL: "http://127.0.0.1:9" });
  const own = await freshMerchant(running);
  const wrongKey = `${own.apiKey.slice(0, -1)}${own.apiKey.endsWith("A") ? "B" : "A"}`;
  const seen = membersOf(
    await scene("errors", {
      gateway: running.gateway,
      api_key: own.apiKey,
      wrong_key: wrongKey,
      narrow_key: await freshKey(running, own.id, { scopes: ["payments:read"] }),
      tight: tight.gateway,
      away: away.gateway,
    }),
  );
  const outcomeOf = (name: string) => membersOf(seen[name]);
  const kinds = Object.keys(seen).map((name) => [name, outcomeOf(name).kind, outcomeOf(name).code]);
  assert.deepEqual(kinds, [
    ["invalid", "InvalidRequestError", "invalid_body"],
    ["unknown", "AuthenticationError", "unauthorized"],
    ["denied", "PermissionDeniedError", "forbidden"],
    ["absent", "NotFoundError", "not_found"],
    ["reused", "ConflictError", "idempotency_key_reuse"],
    ["refused", "RefusedError", "amount_too_large"],
    ["limited", "RateLimitError", "rate_limited"],
    ["away", "ServiceError", "service_unavailable"],
    ["open", "TypeError", undefined],
    ["draft", undefined, undefined],
  ]);
  assert.equal(seen.draft, "draft");
  assert.deepEqual(outcomeOf("invalid").fields, ["amount", "currency"]);
  assert.match(String(outcomeOf("invalid").text), /currency must look like EUR.*\(invalid_body, 400, req_\w+\)/);
  for (const name of Object.keys(seen)) {
    for (const key of [own.apiKey, wrongKey]) assert.ok(!String(outcomeOf(name).text).includes(key), name);
  }
  assert.ok(Number(outcomeOf("limited").wait) >= 1 && Number(outcomeOf("away").wait) >= 1);
  await tight.stop();
  await away.stop();
});

guarantee("a processor that cannot be asked is an error of its own", async () => {
  await failProcessor(running, merchant, { target: "api.intents.create", kind: "error_before", count: 1 });
  const direct = { way: running.gateway, api_key: merchant.apiKey, call: "create", max_retries: 0 };
  const { kind, code } = membersOf(await scene("call", direct));
  assert.deepEqual([kind, code], ["ConnectorError", "connector_error"]);
});

/** A call through trouble: what it saw, and the requests that came. */
async function through(call: string, trouble: readonly Trouble[], more: object = {}) {
  const from = proxy.passed.length;
  proxy.trouble(...trouble);
  const seen = membersOf(await scene("call", { way: proxy.url, api_key: merchant.apiKey, call, ...more }));
  return { ...seen, kind: seen.kind, text: String(seen.text), passed: proxy.passed.slice(from) };
}

const sessions = async () => (await merchant.api.get("/v1/checkout-sessions?limit=1")).expect(200).number("total");

guarantee("an answer that was lost, and a part that was away, make one session under one key", async () => {
  const before = await sessions();
  const { passed, ...seen } = await through("create", ["answer lost", "unavailable"]);
  const keys = passed.map(({ headers }) => headers["idempotency-key"]);
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
  const { pauses, facts } = membersOf(seen);
  assert.deepEqual(pauses, [0.25, 1.5]); // half of 0.5; Retry-After and half of 1
  assert.equal([facts].flat().at(2), true);
  const own = await through("keyed", ["answer lost"]);
  assert.equal(own.passed.at(-1)?.headers["idempotency-key"], "of the caller");
  assert.equal(await sessions(), before + 2);
});

guarantee("what may have been done is not repeated without a key, and a read is", async () => {
  const lost = await through("key", ["answer lost"]);
  assert.deepEqual([lost.kind, lost.passed.length], ["ConnectionFailedError", 1]);
  const page = await through("key", ["bad gateway"]);
  assert.deepEqual([page.kind, page.passed.length], ["ServiceError", 1]);
  const read = await through("read", ["answer lost", "bad gateway"]);
  assert.deepEqual([read.kind, read.passed.length], ["none", 3]);
  const refused = await through("key", ["unavailable"]);
  assert.deepEqual([refused.kind, refused.passed.length], ["none", 2]);
});

guarantee("what does not speak as Tollbooth does is an error, and the key goes nowhere else", async () => {
  for (const trouble of ["redirect", "nonsense", "endless answer", "deep answer", "deep refusal"] as const) {
    const { kind, text } = await through("payment", [trouble]);
    assert.equal(kind, "UnexpectedAnswerError", trouble);
    assert.ok(!text.includes("never_shown"), text);
    if (trouble === "redirect") assert.match(text, /redirects \(HTTP 307\), which is not followed/);
  }
  const { kind, text } = await through("payment", ["key echoed"]);
  assert.deepEqual(
    [kind, text.includes(merchant.apiKey), text.includes("[secret]")],
    ["InvalidRequestError", false, true],
  );
  const half = await through("payment", ["half an answer", "half an answer", "half an answer"]);
  assert.deepEqual([half.kind, half.passed.length], ["ConnectionFailedError", 3]);
  const late = await through("payment", ["silence"], { timeout: 0.1, max_retries: 0 });
  assert.equal(late.kind, "TimedOutError");
});

test.run();
