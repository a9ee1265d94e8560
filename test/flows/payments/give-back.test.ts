// Giving back what nobody asked for, at the real processor: only what is still there and not on its way, and until
// nothing is left.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/members.ts";
import { provenValue } from "../../../services/payments/flows/accounts/ask-processor.ts";
import { driveGiveBack, giveBack } from "../../../services/payments/flows/suspense/give-back.ts";
import { settleReport } from "../../../services/payments/flows/verify-intent.ts";
import { findOperation } from "../../../services/payments/store/operations.ts";
import { type StoredSuspense, suspenseOf } from "../../../services/payments/store/suspense.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("giving back", { timeoutMs: 30_000 });
let services: MoneyServices;
let deps: Awaited<ReturnType<typeof paymentsDeps>>;
let db: Database;

test.before(async () => {
  services = await startMoneyServices();
  deps = await paymentsDeps(services, 3_600); // the services' own reconcile job does not come by
  db = deps.db;
});
test.after(async () => {
  await deps.stop();
  await services.stop();
});

async function atProcessor(path: string, body: object): Promise<string> {
  const answer = await services.processor("POST", path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return String(membersOf(answer.body).id);
}

/**
 * A second intent with a payment's reference, paid 1,000 and held. @param changed what happens at the processor before
 * it is heard of
 */
async function secondCharge(changed: (ref: string) => Promise<unknown> = async () => {}): Promise<StoredSuspense> {
  const paymentId = newId("payment");
  const owner = { merchantId: services.merchantId, environment: services.environment };
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const order = { amount: 1_000n, currency: "EUR", expiresAt, sessionId: `cs_${paymentId.slice(4)}` };
  await services.payments.createIntent({ ...owner, ...order, paymentId });
  const ref = await atProcessor("/api/intents", { amount: 1_000, currency: "EUR", reference: paymentId });
  await atProcessor(`/test/intents/${ref}/pay`, { card: "4242424242424242" });
  await changed(ref);
  await heard(paymentId, ref);
  const item = await suspenseOf(db, "simulator", ref, "second_charge");
  assert(item);
  return item;
}

async function heard(paymentId: string, ref: string): Promise<void> {
  const [row] = await db.rows<{ id: string }>("select connector_account_id as id from payments where id = $1", [
    paymentId,
  ]);
  const account = await deps.accounts.byId(row?.id ?? "");
  const report = provenValue(await deps.connectors.get("simulator").retrieveIntent(account, ref));
  await settleReport(deps, paymentId, report, "reconcile");
}

/** Refunds at the processor, and where item and operation stand. */
async function outcome(item: StoredSuspense): Promise<readonly [refunds: string, item: string, operation: string]> {
  const { body } = await services.processor("GET", `/api/intents/${item.connectorRef}`);
  const refunds = [membersOf(body).refunds].flat().map(membersOf);
  const now = await suspenseOf(db, "simulator", item.connectorRef, "second_charge");
  const operation = await findOperation(db, "give_back", item.id);
  const made = refunds.map(({ amount, status }) => `${amount} ${status}`).join(", ");
  return [made, `${now?.state} ${now?.resolution}`.trim(), operation?.state ?? "none"];
}

test("a second charge is given back whole, once, however often it is asked for", async () => {
  const item = await secondCharge();
  await giveBack(deps, item);
  await giveBack(deps, item);
  assert.deepEqual(await outcome(item), ["1000 succeeded", "closed given_back", "done"]);
});

test("what went back already is not given back again", async () => {
  const item = await secondCharge((ref) => atProcessor(`/test/intents/${ref}/refunds`, { amount: 300 }));
  await giveBack(deps, item);
  assert.deepEqual(await outcome(item), ["300 succeeded, 700 succeeded", "closed given_back", "done"]);
});

test("what is on its way back is not given back again, and it goes on until nothing is left", async () => {
  let pending = "";
  const item = await secondCharge(async (ref) => {
    pending = await atProcessor(`/test/intents/${ref}/refunds`, { amount: 400, status: "pending" });
  });
  await giveBack(deps, item);
  assert.deepEqual(await outcome(item), ["400 pending, 600 succeeded", "open", "started"]);
  await atProcessor(`/test/refunds/${pending}`, { status: "succeeded" });
  assert.equal(await driveGiveBack(deps, item.id), "nothing left");
  assert.deepEqual(await outcome(item), ["400 succeeded, 600 succeeded", "closed given_back", "done"]);
});

test("a refund that fails after its success is given back again, under a key and a name of its own", async () => {
  const item = await secondCharge();
  await giveBack(deps, item);
  const { body } = await services.processor("GET", `/api/intents/${item.connectorRef}`);
  const [made] = [membersOf(body).refunds].flat().map(membersOf);
  await atProcessor(`/test/refunds/${String(made?.id)}`, { status: "failed" });
  await heard(item.paymentId, item.connectorRef);
  assert.deepEqual(await outcome(item), ["1000 failed", "open", "done"]);
  await giveBack(deps, item);
  assert.deepEqual(await outcome(item), ["1000 failed, 1000 succeeded", "closed given_back", "done"]);
});

test("what was declined is asked for anew, and goes through once nothing is in its way", async () => {
  let dispute = "";
  const item = await secondCharge(async (ref) => {
    dispute = await atProcessor(`/test/intents/${ref}/disputes`, { amount: 1_000 });
  });
  for (const _ of "twice") await assert.rejects(giveBack(deps, item), refused("CONNECTOR_ERROR"));
  assert.deepEqual(await outcome(item), ["", "open", "started"]);
  await atProcessor(`/test/disputes/${dispute}`, { status: "won" });
  assert.equal(await driveGiveBack(deps, item.id), "succeeded");
  assert.deepEqual(await outcome(item), ["1000 succeeded", "closed given_back", "done"]);
});

test.run();
