// Restored payments: refunds are rebuilt with their ids and keys, so that a repeat answers the same refund. Payments
// without events are rebuilt from the processor's statement.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { streamName } from "#platform/events/streams.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { connect } from "#platform/values/nats.ts";
import { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { PaymentRecoveryService, RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { inDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { cardToken } from "../../harness/pay.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { announcedBy, copyOf } from "../../harness/servers/backup.ts";
import { suite } from "../../harness/suite.ts";
import { freshKey } from "../checkout/services.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("recovery: refunds and statements", { timeoutMs: 90_000 });
const by = { operator: "ann@example.com" };
let money: MoneyServices;
let peer: Peer;
let recovery: Client<typeof RecoveryService>;
let lostPayments: Client<typeof PaymentRecoveryService>;

test.beforeEach(async () => {
  money = await startMoneyServices();
  peer = connectPeer({ url: money.urls.payments, token: money.settings.RPC_TOKEN });
  recovery = peer.client(RecoveryService);
  lostPayments = peer.client(PaymentRecoveryService);
});
test.afterEach(async () => {
  peer?.close();
  await money?.stop();
});

test("a lost refund is rebuilt under its id and key: a repeat answers it, and one that was never made is made once", async () => {
  const owner = ownerOf(money);
  const paymentId = await paid();
  const backup = await backUp();
  const refundInput = (amount: bigint) => ({
    ...owner,
    paymentId,
    amount,
    idempotency: { key: freshKey(), fingerprint: new Uint8Array(32).fill(7) },
  });
  const [made, unmade] = [refundInput(300n), refundInput(200n)];
  const { refund: first } = await money.payments.refundPayment(made);
  await money.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_before", count: 100 });
  const { refund: pending } = await money.payments.refundPayment(unmade);
  assert(first && pending);
  assert.equal(pending.status, "pending");
  for (const { id } of [first, pending]) await announcedBy(money.paymentsDatabaseUrl, id);
  await eventually("the audit log to have it", async () => (await auditedRefunds()).length === 2);
  assert.deepEqual(
    (await auditedRefunds()).filter(({ details }) => "image" in details),
    [],
    "the audit log has no ciphertext of the key",
  );
  await money.restartPayments(async () => backup);
  await money.processor("DELETE", "/test/faults");

  const outcomes = async () => {
    const { refunds } = await lostPayments.rebuildAnnounced({ after: 0n });
    return new Map(refunds.map(({ refundId, outcome }) => [refundId, outcome]));
  };
  const found = await outcomes();
  assert.equal(found.get(first.id), RebuildOutcome.REBUILT);
  assert.equal(found.get(pending.id), RebuildOutcome.NOT_FOUND);
  assert.equal((await outcomes()).get(first.id), RebuildOutcome.KNOWN);
  while ((await recovery.takeBackEvents(by)).left > 0n);
  await recovery.endRecovery({ ...by, note: "rebuilt" });
  assert.equal((await money.payments.refundPayment(made)).refund?.id, first.id);
  const repeated = await money.payments.refundPayment(unmade);
  assert.deepEqual([repeated.refund?.id, repeated.refund?.status], [pending.id, "succeeded"]);
  assert.equal((await money.payments.refundPayment(unmade)).refund?.id, pending.id);
  const other = { ...made, idempotency: { ...made.idempotency, fingerprint: new Uint8Array(32).fill(8) } };
  await assert.rejects(money.payments.refundPayment(other), isRefusal("IDEMPOTENCY_KEY_REUSE"));
  const { refunds } = await money.payments.listRefunds({ ...owner, paymentId, limit: 20 });
  assert.deepEqual(
    refunds.map(({ id, amount }) => [id, amount]).sort(),
    [
      [first.id, 300n],
      [pending.id, 200n],
    ].sort(),
  );
  assert.deepEqual(
    await inDatabase<{ amount: string }>(money.simulatorDatabaseUrl, "select amount from refunds order by amount"),
    [{ amount: "200" }, { amount: "300" }],
    "the processor made each once",
  );
});

test("a payment without events is rebuilt from the processor's statement, only during a recovery", async () => {
  const owner = ownerOf(money);
  const backup = await backUp();
  const from = new Date(Date.now() - 60_000);
  const paymentId = await paid();
  await money.payments.refundPayment({ ...owner, paymentId, amount: 100n });
  const accountId = await connectorId();
  const period = { from: timestampFromDate(from), to: timestampFromDate(new Date(Date.now() + 60_000)) };
  const read = () => lostPayments.rebuildFromStatement({ connectorAccountId: accountId, ...period });
  await assert.rejects(read(), isRefusal("INVALID_BODY", "connector_account_id"));
  await money.restartPayments(async () => {
    await loseStreams();
    return backup;
  });
  assert.equal((await recovery.getRecovery({ limit: 0 })).why, "server_changed", "another server, another stream");
  const { hasStatement, payments } = await read();
  assert.equal(hasStatement, true);
  assert.deepEqual(
    payments.map((each) => [each.paymentId, each.outcome, each.status]),
    [[paymentId, RebuildOutcome.REBUILT, "partially_refunded"]],
  );
  const again = await read();
  assert.deepEqual([again.payments, again.differences], [[], 0]);
  const books = await lostPayments.checkBooks({ after: "" });
  assert.deepEqual([books.checked, books.differences, books.next], [1, [], ""]);
  await inDatabase(superuserOf(backup), "update payments set fee_amount = fee_amount + 1");
  const [difference] = (await lostPayments.checkBooks({ after: "" })).differences;
  assert.equal(difference?.paymentId, paymentId, "the check can fail");
});

function ownerOf({ merchantId, environment }: MoneyServices) {
  return { merchantId, environment };
}

async function paid(): Promise<string> {
  const paymentMethod = await cardToken(money.processorUrl, money.account);
  const paymentId = newId("payment");
  const order = { ...ownerOf(money), paymentId, amount: 1_000n, currency: "EUR", paymentMethod };
  const { payment } = await money.payments.createPayment(order);
  assert.equal(payment?.status, "succeeded");
  return paymentId;
}

/** @returns the service's URL of the copy */
async function backUp(): Promise<string> {
  let backup = "";
  await money.restartPayments(async () => {
    backup = await copyOf(money.paymentsServiceUrl);
    return money.paymentsServiceUrl;
  });
  return backup;
}

/** The same database for a superuser. */
function superuserOf(copy: string): string {
  const url = new URL(money.paymentsDatabaseUrl);
  url.pathname = new URL(copy).pathname;
  return url.href;
}

async function auditedRefunds() {
  const select = "select details from audit_entries where action = 'refund.requested'";
  return await inDatabase<{ details: object }>(money.merchantDatabaseUrl, select);
}

async function connectorId(): Promise<string> {
  const toMerchant = connectPeer({ url: money.urls.merchant, token: money.settings.RPC_TOKEN });
  const { connectors } = await toMerchant.client(ConnectorService).listConnectors(ownerOf(money));
  toMerchant.close();
  return connectors[0]?.id ?? "";
}

/** Deletes payments' stream with its events. */
async function loseStreams(): Promise<void> {
  const { NATS_URL, NATS_NAMESPACE } = money.settings;
  const nats = await connect({ servers: NATS_URL });
  await (await nats.jetstreamManager()).streams.delete(streamName(NATS_NAMESPACE, "payments"));
  await nats.close();
}

test.run();
