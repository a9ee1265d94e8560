// A rollout of every service at the same time, under buyers and merchants at work: not one request fails, no payment is lost.
import assert from "node:assert/strict";
import { Agent, setGlobalDispatcher } from "undici";
import { type Api, api, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { pay } from "../harness/pay.ts";
import { type Cluster, services, startCluster } from "../harness/pods.ts";
import { suite } from "../harness/suite.ts";

const test = suite("rolling restart", { timeoutMs: 180_000, hookTimeoutMs: 120_000 });
// One by default; `npm run rollout` rolls three of each.
const replicas = Number(process.env.ROLLOUT_REPLICAS ?? 1);
// As a proxy does that knows how long a stopping replica still answers (README.md, Run it in production).
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }));
let cluster: Cluster | undefined;

test.before(async () => {
  cluster = await startCluster(replicas);
});
test.after(() => cluster?.stop());

/** One purchase and its refund; every answer must be the one that a quiet day gives. @returns the payment's id */
async function purchase({ url }: Cluster, merchant: Api, order: string): Promise<string> {
  const created = await merchant.post("/v1/checkout-sessions", { amount: 1_000, currency: "EUR" }, [
    ["idempotency-key", order],
  ]);
  const session = created.expect(201);
  const buyer = `/v1/checkout/${session.text("id")}`;
  const secret = `secret=${encodeURIComponent(session.text("session_secret"))}`;
  (await api(url).get(`${buyer}?${secret}`)).expect(200);
  (await pay(session.text("render.frame_url"))).expect(200);
  const confirmed = (await api(url).post(`${buyer}/confirm?${secret}`)).expect(200);
  assert.equal(confirmed.text("status"), "completed");
  const payment = confirmed.text("payment_id");
  (await merchant.get(`/v1/payments/${payment}`)).expect(200);
  (await merchant.post(`/v1/payments/${payment}/refunds`, { amount: 400 })).expect(201);
  (await merchant.get("/v1/payments?limit=5")).expect(200);
  (await merchant.get("/v1/merchants/me/webhooks")).expect(200);
  return payment;
}

test("every service is replaced under load with 0 failed requests, and every payment stands as it was told", async () => {
  assert.ok(cluster);
  const running = cluster;
  const merchant = merchantApi(running.url, running.apiKey);
  const paid: string[] = [];
  const failures: unknown[] = [];
  let rolling = true;
  let orders = 0;
  const shoppers = Array.from({ length: 4 }, async () => {
    while (rolling && failures.length === 0) {
      await purchase(running, merchant, `order-${++orders}`).then(
        (payment) => paid.push(payment),
        (error) => failures.push(error),
      );
    }
  });
  await eventually("the load to flow", () => paid.length >= 4 || failures.length > 0, { limitMs: 60_000 });
  const before = paid.length;
  await Promise.all(services.map((service) => running.roll(service)));
  await eventually("the new replicas to work", () => paid.length >= before + 4 || failures.length > 0, {
    limitMs: 60_000,
  });
  rolling = false;
  await Promise.all(shoppers);
  assert.deepEqual(failures, []);
  for (const payment of paid) {
    const told = (await merchant.get(`/v1/payments/${payment}`)).expect(200);
    assert.deepEqual([told.text("status"), told.number("refunded_amount")], ["partially_refunded", 400]);
  }
  console.log(`  ${paid.length} purchases of 8 requests each, 0 failed`);
});

test.run();
