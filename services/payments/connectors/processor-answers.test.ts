// The port's answer to each HTTP answer of a processor, for both connectors: to a command that moves money, and to a
// query.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { Connector, ProcessorAccount } from "./connector.ts";
import { simulatorConnector } from "./simulator/simulator.ts";
import { stripeConnector } from "./stripe/stripe.ts";

const test = suite("processor answers");
const timeoutMs = 2_000;
const dayS = 86_400;
const account: ProcessorAccount = {
  id: "mco_1",
  merchantId: "mer_1",
  environment: Environment.SANDBOX,
  connector: "any",
  externalAccountId: "acct_1",
  surface: "embedded",
  credentials: { secret_key: "sk_test_1", publishable_key: "pk_test_1", webhook_secret: "whsec_1" },
  refundsEnabled: true,
};
const order = { intentRef: "pi_1", amount: 300n, currency: "EUR", reason: "", reference: "re_1" };
const captureMethod = "automatic" as const;
const payment = { reference: "pay_1", amount: 1_000n, currency: "EUR", description: "", captureMethod };

/** A processor that gives the same answer to everything. */
const reply = { status: 200, body: "{}", isCut: false };
const received: IncomingHttpHeaders[] = [];
let server: Server;
let connectors: Connector[];

test.before(async () => {
  server = createServer((request, response) => {
    received.push(request.headers);
    request.resume().on("end", () => {
      if (reply.isCut) return void request.socket.destroy();
      response.writeHead(reply.status, { "content-type": "application/json" }).end(reply.body);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const origin = `http://127.0.0.1:${address.port}`;
  connectors = [simulatorConnector(origin, origin, timeoutMs, dayS), stripeConnector(origin, timeoutMs, dayS)];
});
test.after(async () => {
  for (const connector of connectors) await connector.close();
  server.close();
});

function answer(status: number, error: { code?: string; type?: string } = {}): void {
  reply.status = status;
  reply.isCut = false;
  // An answer without the processor's own code may be an edge's.
  const code = status === 404 ? "resource_missing" : "refused";
  reply.body = JSON.stringify({ error: { type: "invalid_request_error", message: "", code, ...error } });
  received.length = 0;
}

async function refunded(connector: Connector): Promise<string> {
  const { kind } = await connector.createRefund(account, order, "key_1");
  assert.equal(received.length, 1, `${connector.name} asks once`);
  return kind;
}

test("a command answered with an error of unknown effect is unknown", async () => {
  for (const connector of connectors) {
    for (const status of [500, 502, 503, 504, 408, 409, 425, 429]) {
      answer(status);
      assert.equal(await refunded(connector), "unknown", `${connector.name} ${status}`);
    }
  }
});

test("a command without an answer is unknown, and without a connection not sent", async () => {
  for (const connector of connectors) {
    answer(200);
    reply.isCut = true;
    assert.equal(await refunded(connector), "unknown", connector.name);
  }
  const nowhere = "http://127.0.0.1:9";
  for (const connector of [
    simulatorConnector(nowhere, nowhere, timeoutMs, dayS),
    stripeConnector(nowhere, timeoutMs, dayS),
  ]) {
    assert.equal((await connector.createRefund(account, order, "key_1")).kind, "not_sent", connector.name);
    assert.equal((await connector.findRefund(account, order)).kind, "unknown", connector.name);
    await connector.close();
  }
});

test("a command with refused credentials is not sent, and a refusal is declined", async () => {
  for (const connector of connectors) {
    for (const [status, kind] of [
      [401, "not_sent"],
      [403, "not_sent"],
      [400, "declined"],
      [422, "declined"],
    ] as const) {
      answer(status);
      assert.equal(await refunded(connector), kind, `${connector.name} ${status}`);
    }
  }
});

test("an unreadable answer, or an error with status 200, is unknown", async () => {
  const error = JSON.stringify({ error: { type: "invalid_request_error", code: "refused", message: "" } });
  for (const connector of connectors) {
    for (const body of ["{}", "[]", "busy", error]) {
      answer(200);
      reply.body = body;
      assert.equal(await refunded(connector), "unknown", `${connector.name} ${body}`);
    }
  }
});

test("an edge's answer is unknown for every call and status", async () => {
  const words = ["{}", "[]", "1", "null", '"upstream timeout"', '{"message":"no route"}', '{"error":"Bad Request"}'];
  for (const connector of connectors) {
    for (const status of [200, 400, 404, 422, 500, 503]) {
      for (const body of [...words, '{"error":{"message":"no route"}}', '{"error":{"type":"about:blank"}}']) {
        answer(status);
        reply.body = body;
        for (const [call, run] of everyCall(connector)) {
          const { kind } = await run();
          // If a query precedes the command, the command was not sent.
          const isOpen = kind === "unknown" || (kind === "not_sent" && call === "refund cs_1");
          assert.ok(isOpen, `${connector.name} ${call} ${status} ${body}: ${kind}`);
        }
      }
    }
  }
});

/** Calls about an intent and a page. */
function everyCall(connector: Connector): [string, () => Promise<{ kind: string }>][] {
  const redirecting = { ...account, surface: "redirect" };
  const search = { reference: "pay_1", surface: "embedded", since: undefined, after: "" };
  return [
    [
      "create",
      () => connector.createIntent(account, { ...payment, returnUrl: "", surface: "embedded", lineItems: [] }, "key_1"),
    ],
    [
      "create a page",
      () =>
        connector.createIntent(
          redirecting,
          { ...payment, returnUrl: "https://shop.example", surface: "redirect", lineItems: [] },
          "key_1",
        ),
    ],
    ["pay", () => connector.payIntent(account, { ...payment, paymentMethod: "pm_1" }, "key_1")],
    ["find", () => connector.findIntent(account, search)],
    ["find a refund", () => connector.findRefund(account, order)],
    ["read the account", () => connector.readAccount(account.environment, account.credentials)],
    ...["pi_1", "cs_1"].flatMap((ref): [string, () => Promise<{ kind: string }>][] => [
      [`retrieve ${ref}`, () => connector.retrieveIntent(account, ref)],
      [`cancel ${ref}`, () => connector.cancelIntent(account, ref, "release")],
      [`refund ${ref}`, () => connector.createRefund(account, { ...order, intentRef: ref }, "key_1")],
    ]),
  ];
}

test("an error for a reused key or for concurrent work is unknown", async () => {
  const reused = { simulator: [{ code: "idempotency_key_reused" }], stripe: [{ type: "idempotency_error" }] };
  const busy = { simulator: [], stripe: [{ code: "lock_timeout" }, { code: "idempotency_key_in_use" }] };
  for (const connector of connectors) {
    const name = connector.name === "stripe" ? "stripe" : "simulator";
    for (const error of [...reused[name], ...busy[name]]) {
      answer(400, error);
      assert.equal(await refunded(connector), "unknown", JSON.stringify(error));
    }
  }
});

test("only a 404 about the object is not_found, with its time", async () => {
  for (const connector of connectors) {
    for (const [status, code] of [
      ...[400, 401, 403, 405, 409, 410, 429, 500, 502].map((one) => [one, "resource_missing"] as const),
      [404, "url_unknown"] as const,
    ]) {
      answer(status, { code });
      const { kind } = await connector.retrieveIntent(account, "pi_1");
      assert.equal(kind, "unknown", `${connector.name} ${status}`);
    }
    answer(404);
    const missing = await connector.retrieveIntent(account, "pi_1");
    assert(missing.kind === "not_found", connector.name);
    assert.ok(missing.at instanceof Date, `${connector.name} has a time`);
  }
});

test("a search answered without a list is unknown", async () => {
  for (const connector of connectors) {
    for (const status of [400, 401, 403, 404, 409, 429, 500, 503]) {
      answer(status);
      const label = `${connector.name} ${status}`;
      assert.equal((await connector.findRefund(account, order)).kind, "unknown", label);
      assert.equal(
        (await connector.findIntent(account, { reference: "pay_1", surface: "embedded" })).kind,
        "unknown",
        label,
      );
    }
  }
});

test("every command that moves money carries its idempotency key", async () => {
  for (const connector of connectors) {
    answer(500);
    await connector.createIntent(account, { ...payment, surface: "embedded", returnUrl: "", lineItems: [] }, "key_1");
    await connector.createIntent(
      account,
      { ...payment, surface: "redirect", returnUrl: "https://shop.example", lineItems: [] },
      "key_2",
    );
    await connector.payIntent(account, { ...payment, paymentMethod: "pm_1" }, "key_3");
    await connector.createRefund(account, order, "key_4");
    const keys = received.map((headers) => headers["idempotency-key"]);
    assert.deepEqual(keys, ["key_1", "key_2", "key_3", "key_4"], connector.name);
  }
});

test.run();
