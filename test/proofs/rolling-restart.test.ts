// A rollout of every service at the same time, under buyers and merchants at work: not one request fails, no payment is
// lost.
import assert from "node:assert/strict";
import { Agent, setGlobalDispatcher } from "undici";
import { merchantApi } from "../harness/api.ts";
import { type Cluster, services, startCluster } from "../harness/servers/pods.ts";
import { assertRefunded, firstRefund, goShopping } from "../harness/shopping.ts";
import { suite } from "../harness/suite.ts";

const test = suite("rolling restart", { timeoutMs: 180_000, hookTimeoutMs: 120_000 });
// One by default; `npm run prove -- rollout` rolls three of each.
const replicas = Number(process.env.ROLLOUT_REPLICAS ?? 1);
// As a proxy does that knows how long a stopping replica still answers (docs/production.md).
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }));
let cluster: Cluster | undefined;

test.before(async () => {
  cluster = await startCluster(replicas);
});
test.after(() => cluster?.stop());

test("every service is replaced under load with 0 failed requests, and every payment is as answered", async () => {
  assert.ok(cluster);
  const running = cluster;
  const shop = { url: running.url, merchant: merchantApi(running.url, running.apiKey) };
  const shopping = goShopping(shop, 4);
  await shopping.more(4);
  await Promise.all(services.map((service) => running.roll(service)));
  await shopping.more(4);
  await shopping.end();
  for (const { payment } of shopping.bought) await assertRefunded(shop, payment, firstRefund);
  console.log(`  ${shopping.bought.length} purchases of 8 requests each, 0 failed`);
});

test.run();
