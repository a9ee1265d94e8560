// Money moves once, whatever a processor answers: calls whose outcome is in doubt, objects that nobody asked for, news
// that never came. Payments against the real simulator, whose webhooks go nowhere here; its fault switches play what
// real processors do.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { OperatorService, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards, cardToken } from "../../harness/pay.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("payments in doubt", { timeoutMs: 60_000 });
const absenceAfterSeconds = 6;
let services: MoneyServices;
let db: Database;
let peer: Peer;

test.before(async () => {
  services = await startMoneyServices({ reconcileAfterSeconds: 1, absenceAfterSeconds, eventPollSeconds: 1 });
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
  peer = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
});
test.after(async () => {
  peer.close();
  await db.close();
  await services.stop();
});
test.afterEach(() => services.processor("DELETE", "/test/faults"));

const owner = () => ({ merchantId: services.merchantId, environment: services.environment });
const fault = (target: string, kind: string, more: object = {}) =>
  services.processor("PUT", "/test/faults", { target, kind, count: 1, ...more });
const atProcessor = async (path: string) =>
  ((await services.processor("GET", path)).body as { data: { id: string; amount: number; status: string }[] }).data;

async function tokenOrder(card: string = cards.succeeds) {
  const paymentMethod = await cardToken(services.processorUrl, services.account, card);
  return { paymentId: newId("payment"), ...owner(), amount: 1_000n, currency: "EUR", paymentMethod };
}

async function sessionOrder() {
  const paymentId = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const request = {
    paymentId,
    sessionId: `cs_${paymentId.slice(4)}`,
    ...owner(),
    amount: 1_000n,
    currency: "EUR",
    expiresAt,
  };
  await services.payments.createIntent(request);
  return request;
}

async function refOf(paymentId: string): Promise<string> {
  const [row] = await db.rows<{ ref: string }>(`select connector_ref as ref from payments where id = $1`, [paymentId]);
  assert(row?.ref);
  return row.ref;
}

async function paidPayment(card: string = cards.succeeds): Promise<string> {
  const { paymentId } = await sessionOrder();
  await services.processor("POST", `/test/intents/${await refOf(paymentId)}/pay`, { card });
  await services.payments.verifyIntent({ paymentId });
  return paymentId;
}

async function record(paymentId: string) {
  const { payment } = await services.payments.getPayment({ ...owner(), paymentId });
  assert(payment);
  return payment;
}

async function events(objectId: string): Promise<string[]> {
  const rows = await db.rows<{ subject: string }>(
    `select subject from outbox where position($1::bytea in body) > 0 order by seq`,
    [Buffer.from(objectId)],
  );
  return rows.map(({ subject }) => subject.split(".payments.")[1] ?? subject);
}

async function balance(paymentId: string, account: string): Promise<number> {
  const [row] = await db.rows<{ sum: string }>(
    `select coalesce(sum(case when debit = $2 then amount else 0 end - case when credit = $2 then amount else 0 end), 0) as sum
     from journal where payment_id = $1`,
    [paymentId, account],
  );
  return Number(row?.sum);
}

const suspenseOf = async (paymentId: string) => {
  const { items } = await peer.client(OperatorService).listSuspense({ limit: 200, withClosed: true });
  return items.find((item) => item.paymentId === paymentId);
};
const resolve = (suspenseId: string, action: SuspenseAction) =>
  peer.client(OperatorService).resolveSuspense({ suspenseId, action, operator: "ada@example.com", note: "ticket 7" });

test("an edge that answers 502 while its origin goes on makes one charge, told as pending and then as succeeded", async () => {
  await fault("api.intents.create", "answer_early", { ms: 2_500 });
  const order = await tokenOrder();
  const first = await services.payments.createPayment(order);
  assert.equal(first.payment?.status, "pending");
  const again = await services.payments.createPayment(order);
  assert.equal(again.payment?.status, "pending", "a repeat is the same payment");
  await eventually("the charge to be known", async () => (await record(order.paymentId)).status === "succeeded");
  assert.equal((await atProcessor(`/api/intents?reference=${order.paymentId}`)).length, 1);
});

test("an edge that answers 502 while its origin goes on makes one refund", async () => {
  const paymentId = await paidPayment();
  await fault("api.refunds.create", "answer_early", { ms: 2_500 });
  const key = { key: randomBytes(8).toString("hex"), fingerprint: Buffer.alloc(32, 1) };
  const ask = () => services.payments.refundPayment({ ...owner(), paymentId, amount: 400n, idempotency: key });
  const { refund } = await ask();
  assert.equal(refund?.status, "pending");
  assert.equal((await ask()).refund?.id, refund.id);
  await eventually("the refund to be known", async () => (await record(paymentId)).refunds[0]?.status === "succeeded");
  assert.equal((await atProcessor(`/api/refunds?reference=${refund.id}`)).length, 1);
});

test("a payment of which the processor shows for long enough that it has nothing fails as not processed, and its merchant is told", async () => {
  await fault("api.intents.create", "error_before");
  const order = await tokenOrder();
  assert.equal((await services.payments.createPayment(order)).payment?.status, "pending");
  await eventually("the payment to end", async () => (await record(order.paymentId)).status === "failed");
  assert.ok((await events(order.paymentId)).includes("payment.failed"));
  const [end] = await db.rows<{ failure_code: string }>(`select failure_code from attempts where payment_id = $1`, [
    order.paymentId,
  ]);
  assert.equal(end?.failure_code, "not_processed");
  const [operation] = await db.rows<{ generation: number; sealed: boolean }>(
    `select generation, sealed_order is not null as sealed from operations where payment_id = $1`,
    [order.paymentId],
  );
  assert.deepEqual(operation, { generation: 1, sealed: false }, "one key for ever, and the token is gone");
});

test("a refund of which the processor shows for long enough that it has nothing gives its amount back, and its key tries anew", async () => {
  const paymentId = await paidPayment();
  await fault("api.refunds.create", "error_before");
  const key = { key: randomBytes(8).toString("hex"), fingerprint: Buffer.alloc(32, 1) };
  const ask = () => services.payments.refundPayment({ ...owner(), paymentId, amount: 400n, idempotency: key });
  const { refund } = await ask();
  assert.equal(refund?.status, "pending");
  // As if the process had died before it stored the answer.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key.key]);
  await eventually("the refund to end", async () => (await record(paymentId)).refundedAmount === 0n);
  assert.equal((await ask()).refund?.status, "succeeded");
  assert.equal((await atProcessor(`/api/refunds?reference=${refund.id}`)).length, 1);
  assert.equal((await record(paymentId)).refundedAmount, 400n);
});

test("an intent's key is not replaced before the processor has shown for long enough that it has nothing, and then makes one intent", async () => {
  await fault("api.intents.create", "error_before");
  const paymentId = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const request = {
    paymentId,
    sessionId: `cs_${paymentId.slice(4)}`,
    ...owner(),
    amount: 1_000n,
    currency: "EUR",
    expiresAt,
  };
  const began = performance.now();
  await eventually("the intent to be made", () => services.payments.createIntent(request).then(() => true));
  assert.ok(performance.now() - began >= (absenceAfterSeconds - 1) * 1_000, "not before");
  assert.equal((await atProcessor(`/api/intents?reference=${paymentId}`)).length, 1);
});

test("a caller whose patience ends before a slow processor answers is told what is known, not that the service is unavailable", async () => {
  await fault("api.intents.create", "delay", { ms: 9_000 });
  const order = await tokenOrder();
  const { payment } = await services.payments.createPayment(order, { timeoutMs: 6_000 });
  assert.equal(payment?.status, "pending");
  await eventually("the charge to be known", async () => (await record(order.paymentId)).status === "succeeded");
});

test("a second charge under our reference stands in the books and in the operators' list until it is given back", async () => {
  const paymentId = await paidPayment();
  const ref = await refOf(paymentId);
  await services.processor("POST", `/test/intents/${ref}/duplicate`);
  const item = await eventually("the second charge to be listed", () => suspenseOf(paymentId));
  assert.deepEqual(
    [item.kind, item.amount, item.state, item.actions],
    ["second_charge", 1_000n, "open", [SuspenseAction.GIVE_BACK, SuspenseAction.CLOSE]],
  );
  assert.equal(await balance(paymentId, "suspense"), -1_000);
  assert.equal((await record(paymentId)).netAmount, 941n, "the payment is what it was");
  await assert.rejects(resolve(item.id, SuspenseAction.TAKE), /INVALID_BODY/);
  const twice = await Promise.allSettled([
    resolve(item.id, SuspenseAction.GIVE_BACK),
    resolve(item.id, SuspenseAction.GIVE_BACK),
  ]);
  assert.equal(twice.filter(({ status }) => status === "fulfilled").length, 1, "one of two is refused");
  const after = await eventually("the item to be closed", async () => {
    const now = await suspenseOf(paymentId);
    return now?.state === "closed" && now;
  });
  assert.deepEqual([after.resolution, after.returnedAmount], ["given_back", 1_000n]);
  assert.equal(await balance(paymentId, "suspense"), 0);
  const [other] = (await atProcessor(`/api/intents?reference=${paymentId}`)).filter(({ id }) => id !== ref);
  assert.equal((await atProcessor(`/api/refunds?reference=${item.id}`)).length, 1);
  assert.ok(other);
});

test("a second refund under our reference is booked as money that nobody asked to move, and can be taken as the merchant's", async () => {
  const paymentId = await paidPayment();
  const { refund } = await services.payments.refundPayment({ ...owner(), paymentId, amount: 400n });
  await services.processor("POST", `/test/refunds/${refund?.connectorRef}/duplicate`);
  const item = await eventually("the second refund to be listed", () => suspenseOf(paymentId));
  assert.equal(item.kind, "second_refund");
  assert.equal((await record(paymentId)).refundedAmount, 800n, "the buyer has it");
  assert.deepEqual([await balance(paymentId, "suspense"), await balance(paymentId, "merchant_balance")], [400, -541]);
  await resolve(item.id, SuspenseAction.TAKE);
  assert.deepEqual([await balance(paymentId, "suspense"), await balance(paymentId, "merchant_balance")], [0, -141]);
});

test("an intent with another amount is listed, is given back, and is never the payment's", async () => {
  const { paymentId } = await sessionOrder();
  const ref = await refOf(paymentId);
  await services.processor("POST", `/test/intents/${ref}/amount`, { amount: 60_000 });
  await services.processor("POST", `/test/intents/${ref}/pay`, { card: cards.succeeds });
  await assert.rejects(services.payments.verifyIntent({ paymentId }), /CONNECTOR_ERROR/);
  const item = await eventually("the intent to be listed", () => suspenseOf(paymentId));
  assert.deepEqual(
    [item.kind, item.amount, item.actions],
    ["other_amount", 60_000n, [SuspenseAction.GIVE_BACK, SuspenseAction.CLOSE]],
    "only what is accepted is offered",
  );
  assert.equal(await balance(paymentId, "suspense"), -60_000);
  await assert.rejects(resolve(item.id, SuspenseAction.TAKE), /INVALID_BODY/);
  await resolve(item.id, SuspenseAction.GIVE_BACK);
  const [row] = await db.rows<{ status: string; captured: string }>(
    `select status, captured_amount as captured from payments where id = $1`,
    [paymentId],
  );
  assert.deepEqual(row, { status: "canceled", captured: "0" });
  assert.equal(await balance(paymentId, "suspense"), 0);
  assert.ok((await events(paymentId)).includes("payment.canceled"));
});

test("an intent that the processor gave and does not know is listed, can be closed, and ends by itself after the proof", async () => {
  const [closed, left] = [await sessionOrder(), await sessionOrder()];
  for (const { paymentId } of [closed, left]) {
    await services.processor("POST", `/test/intents/${await refOf(paymentId)}/lose`);
    await assert.rejects(services.payments.verifyIntent({ paymentId }), /CONNECTOR_ERROR/);
  }
  const item = await eventually("it to be listed", async () => {
    await services.payments.verifyIntent({ paymentId: closed.paymentId }).catch(() => {});
    return await suspenseOf(closed.paymentId);
  });
  assert.equal(item.kind, "lost_intent");
  await resolve(item.id, SuspenseAction.CLOSE);
  assert.deepEqual((await events(closed.paymentId)).slice(-1), ["payment.canceled"]);
  await eventually("the other one to end", async () => {
    const { payment } = await services.payments.verifyIntent({ paymentId: left.paymentId });
    return payment?.status === "canceled";
  });
});

test("an intent that the processor does not know for a while, however long, is in no list any more when it is known again", async () => {
  const { paymentId } = await sessionOrder();
  const miss = async () => {
    await fault("api.intents.get", "missing", { count: 100 });
    await assert.rejects(services.payments.verifyIntent({ paymentId }), /CONNECTOR_ERROR/);
    await services.processor("DELETE", "/test/faults");
  };
  await miss();
  await db.rows(`update payments set not_found_since = not_found_since - interval '1 hour' where id = $1`, [paymentId]);
  await miss();
  const item = await suspenseOf(paymentId);
  assert(item);
  assert.deepEqual([item.kind, item.state], ["lost_intent", "open"]);
  const known = await resolve(item.id, SuspenseAction.CLOSE);
  assert.equal(known.item?.resolution, "found");
  await miss();
  await services.payments.verifyIntent({ paymentId });
  assert.equal((await suspenseOf(paymentId))?.state, "closed");
});

test("what a webhook never brought is found in the processor's event list: a dispute, a failed refund, a returned debit", async () => {
  const [disputed, refunded, returned] = [await paidPayment(), await paidPayment(), await paidPayment()];
  await services.processor("POST", `/test/intents/${await refOf(disputed)}/disputes`, { amount: 300 });
  await eventually("the dispute to be known", async () => (await record(disputed)).status === "disputed");
  const { refund } = await services.payments.refundPayment({ ...owner(), paymentId: refunded, amount: 400n });
  await services.processor("POST", `/test/refunds/${refund?.connectorRef}`, { status: "failed" });
  await eventually("the failed refund to be known", async () => (await record(refunded)).refundedAmount === 0n);
  await services.processor("POST", `/test/intents/${await refOf(returned)}/return`);
  const ended = await eventually("the return to be known", async () => {
    const payment = await record(returned);
    return payment.status === "failed" && payment;
  });
  assert.deepEqual([ended.netAmount, ended.feeAmount], [0n, 0n]);
  assert.equal((await events(returned)).at(-1), "payment.failed");
  assert.deepEqual(
    [await balance(returned, "processor_clearing"), await balance(returned, "merchant_balance")],
    [0, 0],
  );
});

test("a refund of the dashboard that is heard of after its debit came back took its money all the same", async () => {
  const paymentId = await paidPayment();
  const ref = await refOf(paymentId);
  await fault("webhooks", "drop", { count: 3 });
  await services.processor("POST", `/test/intents/${ref}/refunds`, { amount: 400 });
  await services.processor("POST", `/test/intents/${ref}/return`);
  await eventually("both to be known", async () => {
    const { status, refundedAmount } = await record(paymentId);
    return status === "failed" && refundedAmount === 400n;
  });
  assert.equal(await balance(paymentId, "merchant_balance"), 400, "the merchant owes it");
  const [row] = await db.rows<{ waits: boolean }>(
    `select next_check_at is not null as waits from payments where id = $1`,
    [paymentId],
  );
  assert.equal(row?.waits, false, "nothing is left to ask");
});

test("a resumed refund goes straight to its object: what was switched off meanwhile is not asked again", async () => {
  const paymentId = await paidPayment();
  await fault("api.refunds.create", "error_after");
  await fault("api.refunds.get", "error_before");
  const key = { key: randomBytes(8).toString("hex"), fingerprint: Buffer.alloc(32, 1) };
  const ask = () => services.payments.refundPayment({ ...owner(), paymentId, amount: 400n, idempotency: key });
  const { refund } = await ask();
  // As if the process had died before it stored the answer, and an operator had switched refunds off then.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key.key]);
  const merchant = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  const state = (refundsEnabled: boolean) =>
    merchant.client(MerchantService).updateMerchantState({ merchantId: services.merchantId, refundsEnabled });
  try {
    await state(false);
    await eventually("refunds to be off", () =>
      services.payments.refundPayment({ ...owner(), paymentId, amount: 1n }).then(
        () => false,
        (error) => error.reason === "FEATURE_DISABLED",
      ),
    );
    assert.equal((await ask()).refund?.id, refund?.id);
  } finally {
    await state(true);
    merchant.close();
  }
});

test("a payment that ends because nothing of it was ever made says so: a canceled intent has its event", async () => {
  const { paymentId } = await sessionOrder();
  await db.rows(`update payments set connector_ref = null, render = null where id = $1`, [paymentId]);
  await services.processor(
    "POST",
    `/test/intents/${(await atProcessor(`/api/intents?reference=${paymentId}`))[0]?.id}/lose`,
  );
  await eventually("the payment to end", async () => {
    const { payment } = await services.payments.cancelIntent({ paymentId });
    return payment?.status === "canceled";
  });
  assert.deepEqual(await events(paymentId), ["payment.canceled"]);
});

test.run();
