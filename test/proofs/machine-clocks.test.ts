// Machine clocks are not used: with every service's clock off by hours, all times in the public API and the audit log
// are true. Walks and chaos runs prove the effect of steps on money (docs/faults.md).
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { idTimeMs, isId } from "#platform/values/id.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { falseClocks } from "../harness/false-clock.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { isSignedWith, type Receiver, startReceiver } from "../harness/receiver.ts";
import { buyProduct, orderProduct } from "../harness/shopping.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("machines' clocks", { timeoutMs: 60_000 });
const services = ["checkout", "payments", "merchant", "webhook"] as const;
const hourMs = 3_600_000;
// How long a story takes at most, and half of what a clock is off at least.
const nearMs = hourMs / 2;
const nouns = ["session", "payment", "refund", "endpoint", "delivery", "apiKey", "merchant", "event"] as const;
let running: RunningStack;
let receiver: Receiver;

/** Every time in an answer, by its path, those that ids begin with too; not those that lie ahead by intent. */
function timesIn(value: unknown, path = ""): [string, number][] {
  if (typeof value === "string") {
    const isOfAnObject = nouns.some((noun) => isId(noun, value));
    if (isOfAnObject) return [[path, idTimeMs(value)]];
    return /^\d{4}-\d\d-\d\dT/.test(value) ? [[path, Date.parse(value)]] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => name !== "expires_at" && name !== "last_used_at")
    .flatMap(([name, inner]) => timesIn(inner, `${path}.${name}`));
}

function assertTrue(what: string, answer: Answer): void {
  const times = timesIn(answer.body);
  assert.ok(times.length > 0, `${what} has no time: ${answer}`);
  for (const [path, ms] of times)
    assert.ok(Math.abs(ms - Date.now()) < nearMs, `${what}${path} is ${new Date(ms).toISOString()}`);
}

/** One of everything that has a time. */
async function assertTimesAreTrue(merchant: TestMerchant): Promise<void> {
  const { api } = merchant;
  const hooks = "/v1/merchants/me/webhooks";
  const body = { url: `${receiver.url}/${merchant.id}`, event_types: ["payment.succeeded"] };
  const endpoint = (await api.post(hooks, body)).expect(201);
  assertTrue("endpoint", endpoint);
  const soon = new Date(Date.now() + 600_000).toISOString();
  const keys = "/v1/merchants/me/api-keys";
  const limited = (await api.post(keys, { name: "soon over", scopes: ["payments:read"], expires_at: soon })).expect(
    201,
  );
  assertTrue("keys", (await api.get(keys)).expect(200));
  const bearer = { authorization: `Bearer ${limited.text("api_key")}` };
  (await api.get("/v1/payments", bearer)).expect(200);
  const shop = { url: running.stack.gateway, merchant: api };
  const { payment, session } = await buyProduct(shop, await orderProduct(shop, "clock"));
  assertTrue("session", (await api.get(`/v1/checkout-sessions/${session}`)).expect(200));
  assertTrue("payment", (await api.get(`/v1/payments/${payment}`)).expect(200));
  assertTrue("refunds", (await api.get(`/v1/payments/${payment}/refunds`)).expect(200));
  const sent = await receiver.waitFor(({ path }) => path === `/${merchant.id}`);
  assert.ok(isSignedWith(sent, endpoint.text("signing_secret")));
  const [, signedAt] = /t=(\d+)/.exec(String(sent.headers["service-signature"])) ?? [];
  assert.ok(Math.abs(Number(signedAt) * 1_000 - Date.now()) < nearMs, `signed at ${signedAt}`);
  assertTrue("deliveries", (await api.get(`${hooks}/${endpoint.text("id")}/deliveries`)).expect(200));
  await assertAuditIsTrue(merchant.id);
}

async function assertAuditIsTrue(merchantId: string): Promise<void> {
  const peer = connectPeer({ url: running.stack.rpc.merchant, token: running.stack.rpc_token });
  try {
    const audit = peer.client(AuditService);
    const entries = await eventually("the acts to be in the audit log", async () => {
      const found = (await audit.listAuditEntries({ merchantId })).entries;
      return found.length >= 3 ? found : undefined;
    });
    for (const { action, occurredAt } of entries) {
      assert.ok(Math.abs(Number(occurredAt?.seconds) * 1_000 - Date.now()) < nearMs, `${action} in the audit log`);
    }
  } finally {
    peer.close();
  }
}

for (const [what, offsetMs] of Object.entries({ "an hour ahead": hourMs, "an hour behind": -hourMs })) {
  test(`with the machines' clocks ${what}, all times are true, and a key expires at its time`, async () => {
    const clocks = falseClocks(await tempDir("clocks"), services);
    for (const name of services) clocks.step(name, offsetMs);
    running = await startTestStack({ clocks });
    receiver = await startReceiver(running.stack.tls);
    try {
      await assertTimesAreTrue(await freshMerchant(running.stack));
    } finally {
      await receiver.close();
      await running.stop();
    }
  });
}

test.run();
