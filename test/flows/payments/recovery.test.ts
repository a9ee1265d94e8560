// Checkout and payments on a restored database, while broker and processor keep their state: nothing new starts, known
// objects work, and lost ones are rebuilt.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import type { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { SessionRecoveryService } from "#proto/checkout/v1/recovery_pb.ts";
import { OperatorService, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import { PaymentRecoveryService, RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { openDatabase } from "../../harness/database.ts";
import { cardToken } from "../../harness/pay.ts";
import type { MoneyServices } from "../../harness/payments/money-services.ts";
import { announcedBy, copyOf } from "../../harness/servers/backup.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type CheckoutServices, freshKey, startCheckoutServices } from "../checkout/services.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("recovery: money services on a backup", { timeoutMs: 90_000 });
const by = { operator: "ann@example.com" };

const services = fixture(test, () => startCheckoutServices());
const connect = (url: string) => connectPeer({ url, token: services.money.settings.RPC_TOKEN });
const peer = fixture(test, () => connect(services.money.urls.payments));
const checkoutPeer = fixture(test, () => connect(services.url));
const recovery = fixture(test, () => peer.client(RecoveryService));

test("restored payments starts no intent, payment or refund until an operator ends the recovery, and rebuilds lost ones", async () => {
  const { money } = services;
  const known = await services.create();
  await known.pay();
  await known.confirm();
  let backup = "";
  const backedUpAt = new Date(Date.now() - 1_000);
  await money.restartPayments(async () => {
    backup = await copyOf(money.paymentsServiceUrl);
    return money.paymentsServiceUrl;
  });
  const lost = await services.create({ customerEmail: "buyer@example.com", metadata: { order: "17" } });
  await lost.pay();
  await lost.confirm();
  const lostRecord = await recordOf(money, lost.paymentId);
  const unpaid = await services.create();
  const { merchantId, environment } = money;
  const owner = { merchantId, environment };
  const paymentMethod = await cardToken(money.processorUrl, money.account);
  const byToken = { ...owner, paymentId: newId("payment"), amount: 700n, currency: "EUR", paymentMethod };
  await money.payments.createPayment(byToken);
  await money.payments.refundPayment({ ...owner, paymentId: known.paymentId, amount: 300n });
  const tokenRecord = await recordOf(money, byToken.paymentId);
  await announcedBy(money.paymentsDatabaseUrl, byToken.paymentId);
  await announcedBy(money.paymentsDatabaseUrl, lost.paymentId);
  await money.restartPayments(async () => backup);

  const state = await recovery.getRecovery({ limit: 100 });
  assert.equal(state.why, "events_unknown");
  assert.ok(state.events.some(({ objectId, type }) => objectId === lost.paymentId && type === "payment.succeeded"));
  const key = freshKey();
  const before = await intentsAt(services);
  await assertBeginsNothing(backup, key, known.paymentId);
  assert.equal(await intentsAt(services), before, "nothing was sent to the processor");
  const { payment } = await money.payments.getPayment({ ...owner, paymentId: known.paymentId });
  assert.equal(payment?.id, known.paymentId);

  const claims = await claimsIn(money.paymentsDatabaseUrl, lost.paymentId);
  await assert.rejects(money.payments.confirmAnnouncements({ claims }), isRefusal("SERVICE_UNAVAILABLE"));
  const rebuilt = await rebuildAll(backedUpAt);
  assert.equal(rebuilt.get(lost.paymentId), RebuildOutcome.REBUILT);
  assert.equal(rebuilt.get(unpaid.paymentId), RebuildOutcome.REBUILT);
  assert.deepEqual(
    [...new Set((await rebuildAll(backedUpAt)).values())],
    [RebuildOutcome.KNOWN],
    "a second run finds all known",
  );
  const again = await recordOf(money, lost.paymentId);
  assert.deepEqual(again, lostRecord, "unchanged, with the fields of its session");
  assert.deepEqual(await recordOf(money, byToken.paymentId), tokenRecord, "without a session, by its events");
  assert.equal((await recordOf(money, known.paymentId)).refundedAmount, 300n, "the lost refund");
  assert.equal(await intentsAt(services), before, "rebuilding sends nothing");
  while ((await recovery.takeBackEvents(by)).left > 0n);
  assert.equal((await money.payments.confirmAnnouncements({ claims })).announcedDigests.length, claims.length);
  assert.deepEqual(await recovery.endRecovery({ ...by, note: "rebuilt by hand" }), {
    $typeName: "status.v1.EndRecoveryResponse",
    ended: true,
  });
  const { acts } = await recovery.getRecovery({ limit: 0 });
  assert.deepEqual(
    acts.map(({ act, operator }) => [act, operator]),
    [
      ["begun", ""],
      ["events_taken_back", by.operator],
      ["ended", by.operator],
    ],
  );
  const resumed = { ...owner, paymentId: unpaid.paymentId, sessionId: unpaid.id, amount: 1_050n, currency: "EUR" };
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const { render } = await money.payments.createIntent({ ...resumed, expiresAt, resumeOnly: true });
  assert.ok(render?.clientSecret, "the browser can show the form again");
  assert.equal(await intentsAt(services), before);
  await unpaid.pay();
  assert.equal((await unpaid.confirm()).status, "completed", "a rebuilt intent can be paid");
  const made = await services.create({}, key);
  assert.equal((await services.create({}, key)).id, made.id, "the refused key makes one session now");
});

/** Calls that would send to the processor are refused with a time to retry. */
async function assertBeginsNothing(
  backup: string,
  key: ReturnType<typeof freshKey>,
  knownPaymentId: string,
): Promise<void> {
  const { payments, merchantId, environment } = services.money;
  const hasRetryAfter = (error: unknown) =>
    isRefusal("SERVICE_UNAVAILABLE")(error) && (error as Failure).retryAfterMs >= 10_000;
  await assert.rejects(services.create({}, key), hasRetryAfter);
  const owner = { merchantId, environment };
  const token = { ...owner, paymentId: newId("payment"), amount: 500n, currency: "EUR", paymentMethod: "pm_card_visa" };
  await assert.rejects(payments.createPayment(token), hasRetryAfter);
  await assert.rejects(payments.refundPayment({ ...owner, paymentId: knownPaymentId }), hasRetryAfter);
  const item = {
    suspenseId: newId("suspense"),
    action: SuspenseAction.GIVE_BACK,
    operator: "ann",
    note: "not asked for",
  };
  await assert.rejects(peer.client(OperatorService).resolveSuspense(item), hasRetryAfter);
  assert.equal(await rowsIn(backup, token.paymentId), 0);
}

test("restored checkout starts no session or payment and claims no key, lets known ones be paid, and rebuilds lost ones with their keys", async () => {
  const { money } = services;
  const open = await services.create();
  const backup = await services.backup();
  const key = freshKey();
  const lost = await services.create({ customerEmail: "buyer@example.com" }, key);
  const paidKey = freshKey();
  const paid = await services.create({}, paidKey);
  await paid.pay();
  await paid.confirm();
  await announcedBy(services.databaseUrl, lost.id);
  await announcedBy(services.databaseUrl, paid.id);
  await services.restart(backup);
  const { checkout } = services;
  const { merchantId, environment } = money;
  const order = { merchantId, environment, amount: 1_050n, currency: "EUR" };
  const idempotency = { key, fingerprint: new Uint8Array(32) };
  const before = await intentsAt(services);
  await assert.rejects(checkout.createSession({ ...order, idempotency }), isRefusal("SERVICE_UNAVAILABLE"));
  await assert.rejects(
    checkout.createPayment({ ...order, idempotency, paymentMethod: "pm_card_visa" }),
    isRefusal("SERVICE_UNAVAILABLE"),
  );
  assert.equal(await intentsAt(services), before);
  const db = await openDatabase(backup);
  assert.deepEqual(await db.rows("select key from idempotency_keys where key = $1", [key]), []);
  await db.close();
  await open.pay();
  const confirmed = await checkout.confirmSession({ sessionId: open.id, sessionSecret: open.secret });
  assert.equal(confirmed.status, "completed");
  const { acts } = await checkoutPeer.client(RecoveryService).getRecovery({ limit: 0 });
  assert.deepEqual(
    acts.map(({ act }) => act),
    ["begun"],
  );

  const recovering = checkoutPeer.client(SessionRecoveryService);
  const outcomes = async () => {
    const { sessions } = await recovering.rebuildSessions({ after: 0n });
    assert.deepEqual((await recovering.rebuildSessions({ after: 2n ** 63n - 1n })).sessions, []);
    return new Map(sessions.map(({ sessionId, outcome, status }) => [sessionId, [outcome, status]]));
  };
  const first = await outcomes();
  assert.deepEqual(first.get(lost.id), [RebuildOutcome.REBUILT, "open"]);
  assert.deepEqual(first.get(paid.id), [RebuildOutcome.REBUILT, "completed"]);
  assert.deepEqual((await outcomes()).get(paid.id), [RebuildOutcome.KNOWN, "completed"]);
  await checkoutPeer.client(RecoveryService).endRecovery({ ...by, note: "rebuilt" });
  const repeat = await checkout.createSession({ ...order, customerEmail: "buyer@example.com", idempotency });
  assert.deepEqual([repeat.session?.id, repeat.sessionSecret, repeat.replayed], [lost.id, lost.secret, true]);
  const other = { key, fingerprint: new Uint8Array(32).fill(1) };
  await assert.rejects(checkout.createSession({ ...order, idempotency: other }), isRefusal("IDEMPOTENCY_KEY_REUSE"));
  assert.equal(await intentsAt(services), before, "no second intent");
  await lost.pay();
  const lastly = await checkout.confirmSession({ sessionId: lost.id, sessionSecret: lost.secret });
  assert.equal(lastly.status, "completed", "the buyer's secret still works");
});

/** Does what `tollbooth recovery rebuild` does. @returns the outcome of each payment */
async function rebuildAll(since: Date): Promise<Map<string, RebuildOutcome>> {
  const found = new Map<string, RebuildOutcome>();
  const sessions = checkoutPeer.client(SessionRecoveryService);
  for (let after = "", isFirst = true; isFirst || after !== ""; isFirst = false) {
    const { payments, next } = await sessions.rebuildPayments({ since: timestampFromDate(since), after });
    for (const { paymentId, outcome } of payments) found.set(paymentId, outcome);
    after = next;
  }
  const announced = peer.client(PaymentRecoveryService);
  for (let after = 0n, isFirst = true; isFirst || after !== 0n; isFirst = false) {
    const { payments, next } = await announced.rebuildAnnounced({ after });
    for (const { paymentId, outcome } of payments) if (!found.has(paymentId)) found.set(paymentId, outcome);
    after = next;
  }
  return found;
}

/** Fields that the merchant reads, without booking times, which change in a rebuild. */
async function recordOf(money: MoneyServices, paymentId: string) {
  const { merchantId, environment } = money;
  const { payment } = await money.payments.getPayment({ merchantId, environment, paymentId });
  assert(payment);
  const { amount, feeAmount, refundedAmount, status, customerEmail, metadata, connector, sessionId, card } = payment;
  return {
    amount,
    feeAmount,
    refundedAmount,
    status,
    customerEmail,
    metadata,
    connector,
    sessionId,
    last4: card?.last4,
  };
}

async function claimsIn(databaseUrl: string, objectId: string) {
  const db = await openDatabase(databaseUrl);
  const rows = await db.rows<{ event_id: string; body: Buffer }>(
    "select event_id, body from outbox where strpos(encode(body, 'escape'), $1) > 0",
    [objectId],
  );
  await db.close();
  return rows.map(({ event_id, body }) => ({
    eventId: event_id,
    digest: new Uint8Array(createHash("sha256").update(body).digest()),
  }));
}

async function rowsIn(databaseUrl: string, paymentId: string): Promise<number> {
  const db = await openDatabase(databaseUrl);
  const rows = await db.rows("select from payments where id = $1", [paymentId]);
  await db.close();
  return rows.length;
}

/** Number of intents at the processor. */
async function intentsAt({ money }: CheckoutServices): Promise<number> {
  const db = await openDatabase(money.simulatorDatabaseUrl);
  const rows = await db.rows<{ n: number }>("select count(*)::int as n from intents");
  await db.close();
  return rows[0]?.n ?? -1;
}

test.run();
