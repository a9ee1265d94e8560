// Misbehaving receivers: each attempt ends in time with the right error code, and healthy endpoints are not delayed.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { Attempt } from "#proto/webhook/v1/webhook_pb.ts";
import { ResolveError } from "../../../services/webhook/sender/resolver.ts";
import { eventually } from "../../harness/eventually.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startHostileServers } from "./hostile-servers.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("hostile webhook receivers", { timeoutMs: 120_000 });

// Other names do not exist.
async function lookup(host: string) {
  if (host === "localhost") return { addresses: ["127.0.0.1"], ttlSeconds: 60 };
  if (host === "broken.example") throw new ResolveError("dns_failed");
  if (host === "late.example") throw new ResolveError("dns_timeout");
  throw new ResolveError("dns_not_found");
}

// One attempt each.
const t = fixture(test, () =>
  startWebhookTest({ WEBHOOK_RETRY_BASE_MS: 3_600_000, WEBHOOK_RETRY_CAP_MS: 3_600_000 }, { lookup }),
);
const servers = fixture(test, () => startHostileServers(t.tls));
const healthy = fixture(test, () => startReceiver(t.tls));

async function register(url: string) {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const { endpoint } = await t.webhooks.createEndpoint({ ...owner, url, eventTypes: ["payment.succeeded"] });
  assert(endpoint);
  return { ...owner, endpointId: endpoint.id };
}

async function attemptAt(url: string): Promise<Attempt> {
  const to = await register(url);
  const { deliveryId } = await t.webhooks.sendTestEvent(to);
  return await eventually(
    `an attempt at ${url}`,
    async () => (await t.webhooks.listAttempts({ merchantId: to.merchantId, deliveryId })).attempts[0],
    { limitMs: 60_000, everyMs: 200 },
  );
}

/** The error code of each; empty: delivered. */
const expected: Readonly<Record<string, string>> = {
  silent: "answer_timeout",
  dripHeaders: "answer_timeout",
  endlessContinue: "bad_http",
  endlessBody: "",
  endlessRefusal: "http_500",
  dripBody: "",
  gzipBomb: "http_500",
  headerFlood: "headers_too_large",
  reset: "reset",
  halfClosed: "reset",
  closeDelimited: "",
  shortBody: "",
  continued: "bad_http",
  upgrade: "bad_http",
  garbage: "bad_http",
  twoLengths: "bad_http",
  gone: "http_410",
  moved: "redirect",
  controlText: "http_400",
  authenticate: "http_401",
  tlsExpired: "tls_expired",
  tlsWrongName: "tls_name_mismatch",
  tlsSelfSigned: "tls_self_signed",
  tlsUntrusted: "tls_untrusted",
  tlsOld: "tls_failed",
  plainHttp: "tls_failed",
  noHandshake: "tls_timeout",
};

// The limit of 10 s, and a margin for a busy machine.
const lateMs = 25_000;

test("every misbehaving receiver ends its attempt within the limit with its error code, and healthy deliveries continue", async () => {
  const names = Object.keys(servers.urls);
  assert.deepEqual(names.sort(), Object.keys(expected).sort());
  const well = await register(healthy.url);
  const attempts = names.map(async (name) => [name, await attemptAt(servers.urls[name] ?? "")] as const);
  for (let i = 0; i < 50; i++) {
    const { paymentId } = await t.announce({ merchantId: well.merchantId });
    await healthy.waitFor((r) => r.body.includes(paymentId));
  }
  const results = new Map(await Promise.all(attempts));
  const codes = [...results].map(([name, attempt]) => [name, attempt.errorCode]);
  assert.deepEqual(Object.fromEntries(codes), expected);
  const late = [...results].filter(([, attempt]) => attempt.durationMs > lateMs);
  assert.deepEqual(
    late.map(([name, attempt]) => [name, attempt.durationMs]),
    [],
  );
  assert.equal(results.get("controlText")?.responseSnippet, "a b [31mc");
  assert((results.get("endlessRefusal")?.responseSnippet.length ?? 0) === 1_024);
});

test("DNS failures and closed ports have separate error codes", async () => {
  assert.equal((await attemptAt("https://nowhere.example/")).errorCode, "dns_not_found");
  assert.equal((await attemptAt("https://broken.example/")).errorCode, "dns_failed");
  assert.equal((await attemptAt("https://late.example/")).errorCode, "dns_timeout");
  const closed = await startReceiver(t.tls);
  await closed.close();
  assert.equal((await attemptAt(closed.url)).errorCode, "connect_refused");
});

test("a dead kept connection is replaced within the same attempt", async () => {
  const receiver = await startReceiver(t.tls);
  const to = await register(receiver.url);
  const ping = async () => {
    const { deliveryId } = await t.webhooks.sendTestEvent(to);
    const attempt = await eventually("the attempt", async () => {
      const { attempts } = await t.webhooks.listAttempts({ merchantId: to.merchantId, deliveryId });
      return attempts[0];
    });
    const requests = receiver.received.filter((r) => r.headers["service-delivery"] === deliveryId).length;
    return { attempt, requests };
  };
  // Repeated, since on a busy machine the kept connection may expire before the second request.
  await eventually("one attempt of two requests", async () => {
    receiver.answer({ status: 200 });
    assert.equal((await ping()).attempt.statusCode, 200);
    // The request on the kept connection is cut, the one on a new connection is answered.
    let cuts = 1;
    receiver.answer(() => (cuts-- > 0 ? { status: 0, drop: true } : { status: 200 }));
    const { attempt, requests } = await ping();
    return attempt.statusCode === 200 && attempt.errorCode === "" && requests === 2;
  });
  await receiver.close();
});

test.run();
