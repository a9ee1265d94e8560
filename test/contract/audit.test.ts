// The audit log and the log of API requests, as operators read them over merchant.v1.AuditService.
import assert from "node:assert/strict";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { Database } from "#platform/database/database.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { keepRequestDays } from "../../services/merchant/jobs/keep-request-days.ts";
import { listRequestDays } from "../../services/merchant/store/request-days.ts";
import { disputedPurchase, makePurchase } from "../console/purchases.ts";
import { freshDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("audit", { timeoutMs: 60_000 });
const environment = Environment.SANDBOX;
let peer: Peer;
let audit: Client<typeof AuditService>;

test.before(async () => {
  peer = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
  audit = peer.client(AuditService);
});
test.after(() => peer?.close());

const requestIdOf = (answer: { headers: Headers }) => answer.headers.get("request-id") ?? "";

/** The entry of an action on an object, waited for. */
const entryOf = (action: string, objectId: string) =>
  eventually(`${action} in the audit log`, async () => {
    const { entries } = await audit.listAuditEntries({ merchantId: merchant.id, action, objectId });
    return entries[0];
  });

test("keys, endpoints, connectors, branding, profile, refunds and expiries leave who did what, when and in which request", async () => {
  const endpoint = { url: "https://localhost:8443/hook", event_types: ["test.ping"] };
  const created = await api.call("createWebhookEndpoint", 201, { body: endpoint });
  const path = { id: created.text("id") };
  const disabled = await api.call("updateWebhookEndpoint", 200, { path, body: { status: "disabled" } });
  const rolled = await api.call("rollWebhookSecret", 200, { path });
  const deleted = await api.call("deleteWebhookEndpoint", 204, { path });
  const branded = await api.call("updateBranding", 200, { body: { tagline: "a private tagline" } });
  const profile = await api.call("updateProfile", 200, { body: { phone: "+4915112345678" } });
  const cid = (await api.call("listConnectors", 200)).text("data.0.id");
  const connector = await api.call("updateConnector", 200, { path: { cid }, body: { selected_surface: "hosted" } });
  const routing = { rules: [{ when: {}, use: [cid] }], on_outage: "next", version: 0 };
  const routed = await api.call("replaceRouting", 200, { body: routing });
  const newKey = await api.call("createApiKey", 201, { body: { name: "a private name" } });
  const keyId = String(membersOf((await api.call("listApiKeys", 200)).list("data")[0]).id);
  const revoked = await api.call("revokeApiKey", 204, { path: { id: keyId } });
  const order = { amount: 1000, currency: "EUR" };
  const open = await api.call("createCheckoutSession", 201, { body: order });
  const expired = await api.call("expireCheckoutSession", 200, { path: { id: open.text("id") } });
  const { payment: paymentId } = await makePurchase(running, merchant, order);
  const refund = await api.call("createRefund", 201, { path: { id: paymentId }, body: { amount: 400 } });
  const listed = await api.call("listPaymentRefunds", 200, { path: { id: paymentId } });
  const [{ id: refundId = "" } = {}] = listed.list("data").map(Object);
  const { dispute: disputed } = await disputedPurchase(running, merchant);
  const accepted = await api.call("acceptDispute", 200, { path: { id: disputed } });
  const found = [];
  for (const [action, objectId, answer] of [
    ["endpoint.created", path.id, created],
    ["endpoint.updated", path.id, disabled],
    ["endpoint.secret_rolled", path.id, rolled],
    ["endpoint.deleted", path.id, deleted],
    ["branding.updated", merchant.id, branded],
    ["merchant.updated", merchant.id, profile],
    ["connector.updated", cid, connector],
    ["routing.updated", merchant.id, routed],
    ["api_key.created", keyId, newKey],
    ["api_key.revoked", keyId, revoked],
    ["session.expiry_requested", open.text("id"), expired],
    ["dispute_response.acceptance_requested", disputed, accepted],
    ["refund.requested", String(refundId), refund],
  ] as const) {
    const entry = await entryOf(action, objectId);
    assert.match(entry.actor, /^ak_/, action);
    assert.deepEqual([entry.requestId, entry.merchantId], [requestIdOf(answer), merchant.id], action);
    assert.ok(entry.occurredAt, action);
    found.push(entry);
  }
  assert.deepEqual(found.at(-1)?.details, { payment_id: paymentId, amount: "400", currency: "EUR" });
  const text = JSON.stringify(found.map(({ details }) => details));
  for (const secret of [created.text("signing_secret"), rolled.text("signing_secret"), newKey.text("api_key")]) {
    assert.ok(!text.includes(secret));
  }
  assert.ok(!text.includes("a private"));
});

test("operators' changes of fees and risk rules leave their name and what they changed, without a buyer's data", async () => {
  const [fees, risk] = [running.rpc.payments, running.rpc.checkout].map((url) =>
    connectPeer({ url, token: running.rpc_token }),
  );
  assert(fees && risk);
  const [operator, merchantId] = ["ada@example.com", merchant.id];
  try {
    const effectiveFrom = timestampFromDate(new Date(Date.now() + 86_400_000));
    const key = { merchantId, currency: "EUR", connector: "*", effectiveFrom };
    const schedule = { key, basisPoints: 150, fixedAmount: 25n, operator };
    await fees.client(FeeService).setFeeSchedule({ schedule });
    await fees.client(FeeService).removeFeeSchedule({ key, operator });
    const set = await entryOf("fee_schedule.set", `${merchantId}/EUR/*`);
    assert.deepEqual(
      [set.actor, set.merchantId, set.details.operator, set.details.basis_points, set.details.fixed_amount],
      ["operator", merchantId, operator, "150", "25"],
    );
    const removed = await entryOf("fee_schedule.removed", `${merchantId}/EUR/*`);
    assert.deepEqual(removed.details, { operator, effective_from: timestampDate(effectiveFrom).toISOString() });
    const rules = risk.client(RiskService);
    const entries = ["buyer@example.com"];
    const { rule } = await rules.createRule({
      merchantId,
      kind: RiskKind.BLOCK_LIST,
      subject: "email",
      entries,
      operator,
    });
    const ruleId = rule?.id ?? "";
    await rules.deleteRule({ ruleId, operator });
    const changes = await eventually("both changes of the rule in the audit log", async () => {
      const { entries } = await audit.listAuditEntries({ merchantId, action: "risk_rule.changed", objectId: ruleId });
      return entries.length === 2 && entries.map(({ details }) => `${details.act} ${details.kind} ${details.operator}`);
    });
    assert.deepEqual(changes, [`removed block_list ${operator}`, `created block_list ${operator}`]);
    const all = await audit.listAuditEntries({ merchantId, objectId: ruleId });
    assert.ok(!JSON.stringify(all.entries.map(({ details }) => details)).includes("buyer@"));
  } finally {
    fees.close();
    risk.close();
  }
});

test("the audit log is append-only, also in SQL", async () => {
  const client = new pg.Client({ connectionString: `${running.database}_merchant` });
  await client.connect();
  try {
    for (const statement of [
      "update audit_entries set actor = ''",
      "delete from audit_entries",
      "truncate audit_entries",
    ]) {
      await assert.rejects(client.query(statement), /append-only/);
    }
  } finally {
    await client.end();
  }
});

test("an API request is found by its Request-Id, with no query and nothing secret in its path", async () => {
  const session = await api.call("createCheckoutSession", 201, { body: { amount: 100, currency: "EUR" } });
  const secret = session.text("session_secret");
  const id = session.text("id");
  const seen = await api.call("resolveCheckout", 200, { as: "", path: { id }, query: { secret } });
  const misplaced = await api.refused("resolveCheckout", 404, "not_found", { as: "", path: { id: secret } });
  const refused = await api.refused("listPayments", 400, "invalid_body", { query: { limit: 0 } });
  const logged = (answer: { headers: Headers }) =>
    eventually("the request in the log", async () => {
      const found = audit.getApiRequest({ requestId: requestIdOf(answer) });
      return (await found.catch(() => undefined))?.request;
    });
  const [resolved, wrong, bad] = [await logged(seen), await logged(misplaced), await logged(refused)];
  assert.deepEqual([resolved.method, resolved.path, resolved.status], ["GET", `/v1/checkout/${id}`, 200]);
  assert.deepEqual([wrong.path, wrong.errorCode, wrong.merchantId], ["/v1/checkout/:id", "not_found", ""]);
  assert.deepEqual(
    [bad.path, bad.status, bad.errorCode, bad.merchantId, bad.environment],
    ["/v1/payments", 400, "invalid_body", merchant.id, environment],
  );
  assert.match(bad.apiKeyId, /^ak_/);
  assert.ok(bad.durationMs > 0);
  const unknown = audit.getApiRequest({ requestId: "req_01jd3v9q6k8m2n4p6r8t0v2x4z" });
  await assert.rejects(unknown, isRefused("NOT_FOUND"));
});

test("the request log keeps 30 days and has a week of tables ahead", async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  const db = await Database.open({ url, name: "test", log: createLog("test", "silent"), connectionsMax: 2 });
  try {
    const [start, dayMs] = [Date.UTC(2026, 0, 10), 86_400_000];
    await keepRequestDays(db, start);
    await keepRequestDays(db, start);
    assert.equal((await listRequestDays(db)).length, 9);
    await keepRequestDays(db, start + 31 * dayMs);
    const days = (await listRequestDays(db)).sort((a, b) => a - b);
    assert.deepEqual([days[0], days.at(-1)], [start + dayMs, start + 38 * dayMs]);
  } finally {
    await db.close();
  }
});

function isRefused(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.reason === reason;
}

test.run();
