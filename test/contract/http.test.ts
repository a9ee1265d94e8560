// docs/contract.md §1 and §2: what holds for every operation and every path: methods, media types, sizes, headers, the
// envelope.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { newId } from "#platform/values/id.ts";
import { makePurchase } from "../console/purchases.ts";
import { Answer } from "../harness/api.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running, merchant, api } = contractSuite("HTTP", { timeoutMs: 30_000 });

async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${merchant.apiKey}`, ...init.headers };
  const answer = await fetch(new URL(path, running.gateway), { ...init, method, headers });
  return new Answer(answer.status, answer.headers, await answer.text());
}

/** With ids of nothing, and as a buyer's with a secret of nothing. */
function addressOf(path: string): string {
  if (!path.startsWith("/v1/checkout/")) return path.replace(/\{\w+\}/g, "x");
  const suffix = "01jd3v9q6k8m2n4p6r8t0v2x4z";
  return `${path.replace(/\{\w+\}/g, `cs_${suffix}`)}?secret=cs_secret_${suffix}_${"a".repeat(43)}`;
}

const valid = JSON.stringify({ amount: 1050, currency: "EUR" });

function isEnvelope(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, String(answer));
  assert.equal(answer.text("error.code"), code);
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.match(answer.headers.get("request-id") ?? "", /^req_[0-9a-z]{26}$/);
  assert.equal(answer.headers.get("link"), `</docs/api/errors#${code}>; rel="help"`);
}

// Proves errors: envelope, not_found
test("docs/contract.md §2: an unknown route is not_found in the envelope, with and without a key", async () => {
  for (const path of [
    "/v1",
    "/v2/payments",
    "/v1/refund",
    "/v1//payments",
    "/V1/payments",
    "/v1/%zz",
    "/v1/payments/a/b",
  ]) {
    isEnvelope(await send("GET", path), 404, "not_found");
    isEnvelope(await send("POST", path, { body: "{" }), 404, "not_found");
  }
});

test("docs/contract.md §2: an error names the object, route or part of the request that is wrong, and another merchant's object as an unknown one", async () => {
  const other = (await makePurchase(running, await freshMerchant(running))).payment;
  const [none, endpoint, delivery] = [newId("payment"), newId("endpoint"), newId("delivery")];
  const nothing = (noun: string, id: string) => `no ${noun} ${id} in the sandbox for this api key`;
  const malformed = "no such payment: its id must look like pay_01jd3v9q6k8m2n4p6r8t0v2x4z";
  const sessions = "/v1/checkout-sessions";
  for (const [method, path, message, init] of [
    ["GET", `/v1/payments/${none}`, nothing("payment", none)],
    ["GET", `/v1/payments/${other}`, nothing("payment", other)],
    ["POST", `/v1/payments/${other}/refunds`, nothing("payment", other), { body: "{}" }],
    ["GET", `/v1/refunds?payment_id=${other}`, nothing("payment", other)],
    ["GET", "/v1/payments/pay_x", malformed],
    ["GET", "/v1/payments/%3Cscript%3E", malformed],
    [
      "GET",
      `/v1/merchants/me/webhooks/${endpoint}/deliveries/${delivery}`,
      nothing("delivery", `${delivery} of webhook endpoint ${endpoint}`),
    ],
    ["GET", "/v1/paymets", "no such route: GET /v1/paymets; did you mean /v1/payments? see /docs/api"],
    ["GET", "/v1/%22onload", "no such route; see /docs/api"],
    ["GET", "/v1/payments?stauts=paid", "invalid query"],
    ["GET", "/v1/payments?min_amount=5&max_amount=4", "invalid query"],
    ["POST", sessions, "invalid request body", { body: '{"amount":"1"}' }],
    ["POST", `${sessions}?x=1`, "invalid query and request body", { body: "{}" }],
    ["POST", sessions, "invalid header", { body: valid, headers: { "idempotency-key": "x".repeat(256) } }],
  ] as const) {
    const headers = {
      ...(init && { "content-type": "application/json" }),
      ...(init && "headers" in init && init.headers),
    };
    const answer = await send(method, path, { ...(init && { body: init.body }), headers });
    const isMissing = /^no /.test(message);
    isEnvelope(answer, isMissing ? 404 : 400, isMissing ? "not_found" : "invalid_body");
    assert.equal(answer.text("error.message"), message);
  }
});

test("docs/contract.md §2: a known path with another method is method_not_allowed with Allow, whatever the body", async () => {
  const paths = Map.groupBy(api.document.operations, (operation) => operation.path);
  for (const [path, operations] of paths) {
    const filled = path.replace(/\{\w+\}/g, "x");
    const own = operations.map((operation) => operation.method);
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((each) => !own.includes(each))) {
      const answer = await send(method, filled, method === "GET" ? {} : { body: "{" });
      isEnvelope(answer, 405, "method_not_allowed");
      const allow = (answer.headers.get("allow") ?? "").split(", ");
      assert.deepEqual(allow.sort(), [...own, ...(own.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort(), path);
    }
  }
});

test("docs/contract.md §2: methods that the API has nowhere are 405 on a known path, 404 on an unknown one, and 501 if HTTP has none", async () => {
  for (const method of ["TRACE", "PROPFIND", "MKCOL", "LOCK", "PURGE", "QUERY"]) {
    const on = (path: string) => raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const known = await on("/v1/payments");
    assert.match(known, /^HTTP\/1\.1 405 .*\r\nallow: GET, HEAD, POST, OPTIONS\r\n.*"method_not_allowed"/s, method);
    assert.match(await on("/v1/nowhere"), /^HTTP\/1\.1 404 .*"not_found"/s, method);
  }
  for (const path of ["/v1/payments", "/v1/nowhere"]) {
    const answer = await raw(`FETCH ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 501 Not Implemented\r\n.*Request-Id: req_.*"method_not_allowed"/s);
  }
});

test("docs/contract.md §2: an unknown expectation is 417 in the envelope", async () => {
  const answer = await raw("POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: a-miracle\r\n\r\n");
  assert.match(
    answer,
    /^HTTP\/1\.1 417 .*\r\nrequest-id: req_.*link: <\/docs\/api\/errors#invalid_body>.*"invalid header".*"field":"Expect"/is,
  );
});

test("OPTIONS answers 204 with Allow; CORS is for the two browser operations alone", async () => {
  const plain = await send("OPTIONS", "/v1/payments");
  assert.equal(plain.status, 204);
  assert.equal(plain.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  for (const name of ["origin", "methods", "headers"])
    assert.equal(plain.headers.get(`access-control-allow-${name}`), null);
  const preflight = await send("OPTIONS", "/v1/checkout/cs_x/confirm", {
    headers: { origin: "https://shop.example.com", "access-control-request-method": "POST" },
  });
  assert.deepEqual([preflight.status, preflight.raw], [204, ""]);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Content-Type/);
  const ofBuyer = await send("GET", "/v1/checkout/cs_x");
  assert.match(ofBuyer.headers.get("access-control-expose-headers") ?? "", /\bRequest-Id, Link\b/);
  assert.equal((await send("GET", "/v1/payments")).headers.get("access-control-allow-origin"), null);
});

test("HEAD answers as GET does, without the body", async () => {
  for (const path of ["/v1/merchants/me", "/livez"]) {
    const [head, get] = [await send("HEAD", path), await send("GET", path)];
    assert.deepEqual([head.status, head.raw], [get.status, ""]);
    assert.equal(head.headers.get("content-length"), get.headers.get("content-length"));
  }
});

test("docs/contract.md §2: a body that is not application/json in UTF-8 is unsupported_media_type, for every operation with one", async () => {
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "json",
  ];
  for (const { method, path } of api.document.operations.filter((operation) => operation.hasBody)) {
    const filled = addressOf(path);
    isEnvelope(
      await send(method, filled, { body: "{}", headers: { "content-type": "text/plain" } }),
      415,
      "unsupported_media_type",
    );
  }
  const post = (type: string, more = {}) =>
    send("POST", "/v1/onboarding/applications", { body: "{}", headers: { "content-type": type, ...more } });
  const refused: [answer: Answer, message: string][] = [
    ...(await Promise.all(
      types.map(async (type) => [await post(type), "content type must be application/json"] as [Answer, string]),
    )),
    [await post("application/json; charset=latin1"), "charset of the content type must be utf-8"],
    [
      await post("application/json", { "content-encoding": "gzip" }),
      "content encoding is not supported: send the body without Content-Encoding",
    ],
  ];
  for (const [answer, message] of refused) {
    isEnvelope(answer, 415, "unsupported_media_type");
    assert.equal(answer.text("error.message"), message);
  }
});

test("docs/contract.md §1: every content type that means JSON in UTF-8 is taken, and so is the encoding identity", async () => {
  const path = "/v1/onboarding/applications";
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json;",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "application/json; charset=utf8",
    "application/json ; charset=us-ascii",
    "application/json;odata=verbose;charset=utf-8",
  ]) {
    const headers = { "content-type": type, "content-encoding": "identity" };
    assert.equal((await send("POST", path, { body: "{}", headers })).status, 201, type);
  }
});

test("docs/contract.md §1: an empty body is no body, whatever type it names", async () => {
  const operations = api.document.operations.filter(({ method, isRaw }) => method !== "GET" && !isRaw);
  assert.ok(operations.length >= 20);
  for (const { id, method, path } of operations) {
    const without = await send(method, addressOf(path));
    for (const type of ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "json", "application/json"]) {
      const headers = { "content-type": type };
      const answer = await send(method, addressOf(path), { body: "", headers });
      assert.deepEqual([answer.status, answer.at("error")], [without.status, without.at("error")], `${id} ${type}`);
    }
  }
});

test("docs/contract.md §1: a body above 64 KiB is payload_too_large for every operation with one, at 64 KiB it is read", async () => {
  const sized = (bytes: number) => `{"x":"${"x".repeat(bytes - 8)}"}`;
  const headers = { "content-type": "application/json" };
  for (const { method, path } of api.document.operations.filter((operation) => operation.hasBody)) {
    const filled = addressOf(path);
    isEnvelope(await send(method, filled, { body: sized(65_537), headers }), 413, "payload_too_large");
  }
  const body = sized(65_536);
  assert.equal((await send("POST", "/v1/onboarding/applications", { body, headers })).status, 201);
});

test("an operation without a body passes over whatever is sent", async () => {
  const without = api.document.operations.filter(
    ({ hasBody, isRaw, method }) => !hasBody && !isRaw && method !== "GET",
  );
  assert.ok(without.length >= 7);
  for (const { id, method, path, scope } of without) {
    const [filled, query] = [path.replace(/\{\w+\}/g, "x"), scope === undefined ? "?secret=x" : ""];
    for (const [type, body] of [
      ["application/json", "{"],
      ["text/plain", "x"],
      ["application/json", "x".repeat(70_000)],
    ]) {
      const answer = await send(method, `${filled}${query}`, {
        body: body ?? "",
        headers: { "content-type": type ?? "" },
      });
      isEnvelope(answer, 404, "not_found");
      api.document.check(id, answer);
    }
  }
});

test("docs/contract.md §1: every answer has a Request-Id of its own", async () => {
  const ids = new Set<string | null>();
  for (const path of ["/v1/payments", "/v1/payments/x", "/nowhere", "/livez"]) {
    for (let i = 0; i < 2; i++)
      ids.add((await send("GET", path, { headers: { "request-id": "mine" } })).headers.get("request-id"));
  }
  assert.equal(ids.size, 8);
});

test("answers of /v1 are never cached or sniffed", async () => {
  for (const path of ["/v1/merchants/me", "/v1/payments/x"]) {
    const { headers } = await send("GET", path);
    assert.deepEqual([headers.get("cache-control"), headers.get("x-content-type-options")], ["no-store", "nosniff"]);
  }
});

/** Sends bytes that no HTTP client would. */
function raw(bytes: string, gateway = running.gateway): Promise<string> {
  const { hostname, port } = new URL(gateway);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(10_000, () => socket.destroy(new Error("no answer")));
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
}

test("bytes that are no HTTP request are refused in the envelope too", async () => {
  const cases: [string, RegExp][] = [
    ["nonsense\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "GET /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    [`GET /livez HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ["GET /livez HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n", /^HTTP\/1\.1 400 /],
  ];
  for (const [bytes, status] of cases) {
    const answer = await raw(bytes);
    assert.match(answer, status);
    assert.match(answer, /\{"error":\{"code":"invalid_body","message":"the request[^"]+"\}\}$/);
    assert.match(answer, /Request-Id: req_\w+\r\nLink: <\/docs\/api\/errors#invalid_body>; rel="help"\r\n/);
  }
});

const paid = async () => (await makePurchase(running, merchant, { amount: 1000 })).payment;

/** A request as it goes over the wire. */
function written(path: string, headers: readonly string[], body = ""): string {
  const own = [`Authorization: Bearer ${merchant.apiKey}`, "Content-Type: application/json", ...headers];
  return [`POST ${path} HTTP/1.1`, "Host: a", ...own, "", body].join("\r\n");
}

test("docs/contract.md §2: a request whose connection breaks behind it is answered as what was done, once, and the connection ends", async () => {
  const body = '{"amount":300}';
  const whole = [`Content-Length: ${body.length}`];
  const livez = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
  const cases: [name: string, bytes: (path: string) => string, statuses: number[], refunded: number][] = [
    ["a body without a length", (path) => written(path, [], body), [201], 1000],
    ["three bytes more than the length", (path) => `${written(path, whole, body)}xyz`, [201], 300],
    ["an invalid second request", (path) => `${written(path, whole, body)}GET /\u0001 HTTP/1.1\r\n\r\n`, [201], 300],
    ["an unknown method behind it", (path) => `${written(path, whole, body)}NOPE / HTTP/1.1\r\n\r\n`, [201], 300],
    ["bytes after a last request", (path) => `${written(path, ["Connection: close", ...whole], body)}xyz`, [201], 300],
    ["an invalid one after two", (path) => `${written(path, whole, body)}${livez}xyz\r\n\r\n`, [201, 200], 300],
    [
      "a second request whose body breaks off",
      (path) => `${written(path, whole, body)}${written(path, ["Transfer-Encoding: chunked"], "zz\r\n{}\r\n")}`,
      [201],
      300,
    ],
  ];
  for (const [name, bytes, statuses, refunded] of cases) {
    const id = await paid();
    const text = await raw(bytes(`/v1/payments/${id}/refunds`));
    const received = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    assert.deepEqual(received, statuses, `${name}: ${text}`);
    assert.match(text.slice(text.lastIndexOf("HTTP/1.1")), /\r\nconnection: close\r\n/i, name);
    assert.match(text, new RegExp(`"refunded":${refunded}\\b`), name);
    const payment = await api.call("getPayment", 200, { path: { id } });
    assert.equal(payment.number("refunded_amount"), refunded, name);
  }
});

test("a request whose body breaks off is refused, and what takes no body is not done then", async () => {
  const draft = await send("POST", "/v1/onboarding/applications", {
    body: JSON.stringify({
      applicant_email: "owner@lemonbooks.example",
      legal_name: "Lemon Books GmbH",
      trading_name: "Lemon Books",
      country_code: "DE",
      currency_code: "EUR",
    }),
    headers: { "content-type": "application/json" },
  });
  const application = `/v1/onboarding/applications/${draft.text("id")}`;
  const payment = `/v1/payments/${await paid()}`;
  for (const path of [`${application}/submit`, `${payment}/refunds`]) {
    const answer = await raw(written(path, ["Transfer-Encoding: chunked"], "zz\r\n{}\r\n"));
    assert.match(answer, /^HTTP\/1\.1 400 .*"invalid_body"/s);
    assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1);
  }
  // Whatever had been begun is done before a whole payment is.
  await paid();
  assert.equal((await send("GET", application)).text("status"), "draft");
  assert.equal((await send("GET", payment)).at("refunded_amount"), 0);
});

test("docs/contract.md §2: no Host header, and a doubled one, are 400 in the envelope on every path", async () => {
  for (const path of ["/livez", "/v1/payments", "/nowhere", "/c/cs_x"]) {
    for (const hosts of ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nhost: b\r\n"]) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 /, `${path} ${hosts}`);
      assert.match(answer, /\{"error":\{"code":"invalid_body",.*"field":"Host"/);
    }
  }
  assert.match(await raw("GET /livez HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 200 /);
});

test("in production every answer has Strict-Transport-Security; elsewhere none", async () => {
  const production = await ownGateway(running, {
    NODE_ENV: "production",
    RATE_LIMIT: "on",
    ALLOW_PLAIN_NATS: "private-network",
    NATS_NKEY_FILE: running.broker_files.nkeys.gateway,
    EVENT_KEYS_FILE: running.broker_files.eventKeys.gateway,
  });
  const hsts = "max-age=31536000";
  for (const path of ["/livez", "/v1/payments", "/v1/%zz", "/nowhere", "/docs", "/js/manifest.json", "/c/cs_x"]) {
    const answer = await fetch(new URL(path, production.gateway));
    await answer.text();
    assert.equal(answer.headers.get("strict-transport-security"), hsts, path);
    assert.equal((await send("GET", path)).headers.get("strict-transport-security"), null, path);
  }
  assert.match(
    await raw("nonsense\r\n\r\n", production.gateway),
    /\r\nstrict-transport-security: max-age=31536000\r\n/,
  );
  await production.stop();
});

test("/.well-known/security.txt names the operator's contact, and is not there without one", async () => {
  const path = "/.well-known/security.txt";
  isEnvelope(await send("GET", path), 404, "not_found");
  const gateway = await ownGateway(running, {
    SECURITY_CONTACT: "mailto:security@shop.example",
    SECURITY_EXPIRES: "2031-01-31T00:00:00Z",
  });
  const answer = await fetch(new URL(path, gateway.gateway));
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
  const lines = "Contact: mailto:security@shop.example\nExpires: 2031-01-31T00:00:00.000Z\n";
  assert.equal(await answer.text(), lines);
  await gateway.stop();
});

test.run();
