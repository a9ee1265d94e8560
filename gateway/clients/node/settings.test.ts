import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { suite } from "../../../test/harness/suite.ts";
import { errorOf } from "./errors.ts";
import { nextQuery } from "./page.ts";
import { Tollbooth } from "./tollbooth.ts";

const test = suite("Node library: settings, pages and requests");

const apiKey = `sk_test_${"k".repeat(46)}`;

function refusal(options: object): string {
  try {
    Reflect.construct(Tollbooth, [options]);
  } catch (error) {
    if (error instanceof TypeError) return `${inspect(error, { depth: 9 })}`;
    throw error;
  }
  throw new Error("the client was created");
}

test("accepts https base URLs, and http for localhost only", () => {
  const good = ["https://pay.example", "https://pay.example/tollbooth/", "http://localhost:8080", "http://127.0.0.1:1"];
  for (const baseUrl of [...good, "http://[::1]:8080", "http://shop.localhost"]) new Tollbooth({ apiKey, baseUrl });
  const bad = [
    "http://pay.example",
    "http://localhost.pay.example",
    "http://127.0.0.1.pay.example",
    "http://1270.0.0.1",
  ];
  const unclear = ["pay.example", "", "ftp://localhost", "https://user:word@pay.example", "https://pay.example/?a=b"];
  for (const baseUrl of [...bad, ...unclear]) assert.match(refusal({ apiKey, baseUrl }), /baseUrl must/, baseUrl);
});

test("a failed connection names host, port and cause", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const client = new Tollbooth({ apiKey, baseUrl: `http://127.0.0.1:${port}` });
  await assert.rejects(client.payments.get("pay_x", { maxRetries: 0 }), {
    message: `the connection to 127.0.0.1:${port} failed: ECONNREFUSED`,
  });
});

test("never shows the key in an error or a printed client", () => {
  const broken = `${apiKey}\n`;
  const texts = [
    refusal({ apiKey: broken, baseUrl: "https://pay.example" }),
    refusal({ apiKey, baseUrl: `https://${apiKey}@pay.example` }),
    refusal({ apiKey, baseUrl: apiKey }),
    refusal({ apiKey, baseUrl: "https://pay.example", maxRetries: 11 }),
    inspect(new Tollbooth({ apiKey, baseUrl: "https://pay.example" }), { depth: 9, showHidden: true }),
    JSON.stringify(new Tollbooth({ apiKey, baseUrl: "https://pay.example" })),
  ];
  for (const text of texts) assert.ok(!text.includes(apiKey), text);
});

async function sentFor(
  call: (tollbooth: Tollbooth) => PromiseLike<unknown>,
): Promise<{ url: string; init: RequestInit }> {
  const seen: { url: string; init: RequestInit }[] = [];
  const tollbooth = new Tollbooth({
    apiKey,
    baseUrl: "https://pay.example/tollbooth/",
    appName: "shop/1.2",
    fetch: async (url, init = {}) => {
      seen.push({ url: String(url), init });
      return new Response('{"data":[]}');
    },
  });
  await call(tollbooth);
  const [first] = seen;
  if (!first) throw new Error("nothing was sent");
  return first;
}

test("sends key, version and idempotency key, and follows no redirect", async () => {
  const { url, init } = await sentFor((tollbooth) =>
    tollbooth.refunds.create("pay_1", { amount: 5, reason: undefined }, { idempotencyKey: "order 7" }),
  );
  assert.equal(url, "https://pay.example/tollbooth/v1/payments/pay_1/refunds");
  const headers = new Headers(init.headers);
  assert.equal(headers.get("authorization"), `Bearer ${apiKey}`);
  assert.equal(headers.get("idempotency-key"), "order 7");
  assert.match(headers.get("user-agent") ?? "", /^tollbooth-node\/\d+\.\d+\.\d+ node\/\d+\.\d+\.\d+ shop\/1\.2$/);
  assert.deepEqual([init.method, init.body, init.redirect], ["POST", '{"amount":5}', "manual"]);
  const list = await sentFor((tollbooth) => tollbooth.payments.list({ q: "a b&c", min_amount: 1, to: undefined }));
  assert.equal(list.url, "https://pay.example/tollbooth/v1/payments?q=a+b%26c&min_amount=1");
  assert.equal(list.init.body, undefined);
});

test("refuses arguments that would not arrive unchanged", async () => {
  const wrong: ((tollbooth: Tollbooth) => PromiseLike<unknown>)[] = [
    (tollbooth) => tollbooth.payments.get(""),
    (tollbooth) => tollbooth.payments.get("../merchants/me"),
    (tollbooth) => tollbooth.refunds.create("pay_1", { amount: Number.NaN }),
    (tollbooth) => tollbooth.refunds.create("pay_1", { amount: 2 ** 53 }),
    (tollbooth) => tollbooth.payments.list({ min_amount: Number.POSITIVE_INFINITY }),
    (tollbooth) => tollbooth.refunds.create("pay_1", {}, { idempotencyKey: "" }),
    (tollbooth) => tollbooth.refunds.create("pay_1", {}, { idempotencyKey: "ключ" }),
    (tollbooth) => tollbooth.merchant.get({ timeoutMs: 0 }),
  ];
  for (const call of wrong) await assert.rejects(async () => await sentFor(call), TypeError);
});

test("requests the next page by last id, by offset or by position, and always advances", () => {
  const data = [{ id: "pay_2" }, { id: "pay_1" }];
  const more = { data, has_more: true, next_cursor: 4, total: 9 };
  assert.deepEqual(nextQuery({ limit: 2, offset: 2 }, more, "after"), { limit: 2, after: "pay_1" });
  assert.deepEqual(nextQuery({ limit: 2, offset: 2 }, more, "offset"), { limit: 2, offset: 4 });
  assert.equal(nextQuery({}, more, "none"), undefined);
  assert.equal(nextQuery({}, { data: [], has_more: true }, "after"), undefined);
  assert.equal(nextQuery({ after: "pay_1" }, more, "after"), undefined);
  assert.equal(nextQuery({ offset: 4 }, more, "offset"), undefined);
  assert.equal(nextQuery({}, { data, has_more: false, next_cursor: 0 }, "after"), undefined);
  assert.equal(nextQuery({}, { data, has_more: false, next_cursor: 0 }, "offset"), undefined);
  const positions = { data, has_more: true, next_position: 9 };
  assert.deepEqual(nextQuery({ limit: 2, after_position: 7 }, positions, "after"), { limit: 2, after_position: 9 });
  assert.equal(nextQuery({ after_position: 9 }, positions, "after"), undefined);
  assert.equal(nextQuery({ after_position: 7 }, { ...positions, has_more: false }, "after"), undefined);
});

test("an error message contains all invalid fields, the code, the status and the request id", () => {
  const details = [
    { field: "amount", problem: "must be at least 1" },
    { field: "", problem: "must be an object" },
  ];
  const headers = new Headers({ "request-id": "req_1" });
  const error = errorOf(400, headers, { error: { code: "invalid_body", message: "the request is wrong", details } });
  assert.equal(error.message, "amount must be at least 1; the body must be an object (invalid_body, 400, req_1)");
  assert.deepEqual([error.code, error.status, error.requestId, error.details], ["invalid_body", 400, "req_1", details]);
  const known = errorOf(418, new Headers(), { error: { code: "teapot", message: "no coffee here" } });
  assert.deepEqual([known.name, known.message], ["InvalidRequestError", "no coffee here (teapot, 418)"]);
});

test.run();
