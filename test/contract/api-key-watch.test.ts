// A gateway's records about keys: counters of rejected ones by reason, and audit entries of the networks of live ones.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { connectPeer } from "#platform/rpc/client.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { apiClient, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running } = contractSuite("watch over API keys");
const path = "/v1/merchants/me";

/** Of the gateways in this process. */
async function refusedKeys(): Promise<Record<string, number>> {
  const metric = await register.getSingleMetric("tollbooth_keys_refused_total")?.get();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [String(labels.why), value]));
}

test("the audit log has a live key's use from a new network, without the address; not a sandbox key's", async () => {
  const gateway = await ownGateway(running, { TRUST_PROXY: "1" });
  const merchant = await freshMerchant(running, { environment: Environment.LIVE });
  const sandbox = await freshMerchant(running);
  for (const { apiKey } of [merchant, sandbox]) {
    for (const address of ["203.0.113.7", "203.0.113.200", "2001:db8:7:5::1", "unknown"]) {
      (await merchantApi(gateway.gateway, apiKey).get(path, { "x-forwarded-for": address })).expect(200);
    }
  }
  // At its end it reports the remaining uses.
  await gateway.stop();
  const peer = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
  try {
    const audit = peer.client(AuditService);
    const entries = await eventually("the entry", async () => {
      const found = await audit.listAuditEntries({ merchantId: merchant.id, action: "api_key.new_network" });
      return found.entries.length > 0 ? found.entries : undefined;
    });
    assert.deepEqual(
      entries.map(({ details, actor }) => [details, actor]),
      [[{ network: "2001:db8:7::/48" }, ""]],
    );
    const others = await audit.listAuditEntries({ merchantId: sandbox.id, action: "api_key.new_network" });
    assert.deepEqual(others.entries, []);
  } finally {
    peer.close();
  }
});

test("requests without a usable key are counted by why, from 0 on; good ones are not", async () => {
  const gateway = await ownGateway(running, { TRUST_PROXY: "1" });
  try {
    const before = await refusedKeys();
    assert.deepEqual(Object.keys(before).sort(), ["address", "missing", "unknown"]);
    const merchant = await freshMerchant(running, { environment: Environment.LIVE });
    const own = merchantApi(gateway.gateway, merchant.apiKey);
    const limited = (await own.post(`${path}/api-keys`, { allowed_ips: ["203.0.113.7"] })).expect(201).text("api_key");
    (await own.get(path)).expect(200);
    (await apiClient(gateway.gateway).get(path)).expect(401);
    for (const wrong of ["x", `sk_live_${"x".repeat(46)}`, `sk_live_${"x".repeat(46)}`]) {
      (await merchantApi(gateway.gateway, wrong).get(path)).expect(401);
    }
    const elsewhere = merchantApi(gateway.gateway, limited);
    (await elsewhere.get(path, { "x-forwarded-for": "192.0.2.1" })).expect(403);
    const after = await refusedKeys();
    const added = Object.fromEntries(Object.entries(after).map(([why, n]) => [why, n - (before[why] ?? Number.NaN)]));
    assert.deepEqual(added, { missing: 1, unknown: 3, address: 1 });
  } finally {
    await gateway.stop();
  }
});

test.run();
