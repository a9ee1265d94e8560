// Money moves once whatever a processor answers: unknown outcomes, objects that we did not request, lost webhooks.
// Payments runs against the simulator with its fault switches; webhooks are not delivered here.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connectPeer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { OperatorService, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards, cardToken } from "../../harness/pay.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("payments in doubt", { timeoutMs: 60_000 });
const absenceAfterSeconds = 6;

const services = fixture(test, () =>
  startMoneyServices({ reconcileAfterSeconds: 1, absenceAfterSeconds, eventPollSeconds: 1 }),
);
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
const peer = fixture(test, () => connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN }));
test.afterEach(() => services.processor("DELETE", "/test/faults"));

async function tokenOrder(card: string = cards.succeeds) {
  const paymentMethod = await cardToken(services.processorUrl, services.account, card);
  return { paymentId: newId("payment"), ...money.owner, amount: 1_000n, currency: "EUR", paymentMethod };
}

/** Debit balance of one account of the payment. */
async function balance(paymentId: string, account: string): Promise<number> {
  return (await money.balances(paymentId))[account] ?? 0;
}

const suspenseOf = async (paymentId: string) => {
  const { items } = await peer.client(OperatorService).listSuspense({ limit: 200, withClosed: true });
  return items.find((item) => item.paymentId === paymentId);
};
const resolve = (suspenseId: string, action: SuspenseAction) =>
  peer.client(OperatorService).resolveSuspense({ suspenseId, action, operator: "ada@example.com", note: "ticket 7" });

test("a charge behind a 502 is made once, and is pending until its success is known", async () => {
  await money.fault("api.intents.create", "answer_early", { ms: 2_500 });
  const order = await tokenOrder();
  const first = await services.payments.createPayment(order);
  assert.equal(first.payment?.status, "pending");
  const again = await services.payments.createPayment(order);
  assert.equal(again.payment?.status, "pending", "a repeat answers the same payment");
  await eventually("the charge to be known", async () => (await money.record(order.paymentId)).status === "succeeded");
  assert.equal((await money.atProcessor(`/api/intents?reference=${order.paymentId}`)).length, 1);
});

test("a payment that the processor provably does not have fails as not_processed, and its merchant is notified", async () => {
  await money.fault("api.intents.create", "error_before");
  const order = await tokenOrder();
  assert.equal((await services.payments.createPayment(order)).payment?.status, "pending");
  await eventually("the payment to end", async () => (await money.record(order.paymentId)).status === "failed");
  assert.ok((await money.announced(order.paymentId)).includes("payment.failed"));
  const [end] = await db.rows<{ failure_code: string }>(`select failure_code from attempts where payment_id = $1`, [
    order.paymentId,
  ]);
  assert.equal(end?.failure_code, "not_processed");
  const [operation] = await db.rows<{ generation: number; sealed: boolean }>(
    `select generation, sealed_order is not null as sealed from operations where payment_id = $1`,
    [order.paymentId],
  );
  assert.deepEqual(operation, { generation: 1, sealed: false }, "one key only, and the token is deleted");
});

test("a refund that the processor provably does not have returns its amount, and its key can create it again", async () => {
  const paymentId = await money.paid();
  await money.fault("api.refunds.create", "error_before");
  const key = { key: randomBytes(8).toString("hex"), fingerprint: Buffer.alloc(32, 1) };
  const ask = () => services.payments.refundPayment({ ...money.owner, paymentId, amount: 400n, idempotency: key });
  const { refund } = await ask();
  assert.equal(refund?.status, "pending");
  // As if the process had died before it stored the answer.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key.key]);
  await eventually("the refund to end", async () => (await money.record(paymentId)).refundedAmount === 0n);
  assert.equal((await ask()).refund?.status, "succeeded");
  assert.equal((await money.atProcessor(`/api/refunds?reference=${refund.id}`)).length, 1);
  assert.equal((await money.record(paymentId)).refundedAmount, 400n);
});

test("an intent's key is replaced only after its absence is proved, and then makes one intent", async () => {
  await money.fault("api.intents.create", "error_before");
  const request = money.order();
  const began = performance.now();
  await eventually("the intent to be made", () => services.payments.createIntent(request).then(() => true));
  assert.ok(performance.now() - began >= (absenceAfterSeconds - 1) * 1_000, "not before");
  assert.equal((await money.atProcessor(`/api/intents?reference=${request.paymentId}`)).length, 1);
});

test("a caller that times out before a slow processor answers gets the pending payment, no error", async () => {
  await money.fault("api.intents.create", "delay", { ms: 9_000 });
  const order = await tokenOrder();
  const { payment } = await services.payments.createPayment(order, { timeoutMs: 6_000 });
  assert.equal(payment?.status, "pending");
  await eventually("the charge to be known", async () => (await money.record(order.paymentId)).status === "succeeded");
});

test("a second charge under our reference stays in the books and the operators' list until it is refunded", async () => {
  const paymentId = await money.paid();
  const ref = await money.refOf(paymentId);
  await services.processor("POST", `/test/intents/${ref}/duplicate`);
  const item = await eventually("the second charge to be listed", () => suspenseOf(paymentId));
  assert.deepEqual(
    [item.kind, item.amount, item.state, item.actions],
    ["second_charge", 1_000n, "open", [SuspenseAction.GIVE_BACK, SuspenseAction.CLOSE]],
  );
  assert.equal(await balance(paymentId, "suspense"), -1_000);
  assert.equal((await money.record(paymentId)).netAmount, 941n, "the payment is unchanged");
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
  const [other] = (await money.atProcessor(`/api/intents?reference=${paymentId}`)).filter(({ id }) => id !== ref);
  assert.equal((await money.atProcessor(`/api/refunds?reference=${item.id}`)).length, 1);
  assert.ok(other);
});

test("a lost intent leaves the operators' list when the processor knows it again", async () => {
  const paymentId = await money.created();
  const miss = async () => {
    await money.fault("api.intents.get", "missing", { count: 100 });
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

test("the event list brings a dispute, a failed refund and a returned debit whose webhooks were lost", async () => {
  const [disputed, refunded, returned] = [await money.paid(), await money.paid(), await money.paid()];
  await services.processor("POST", `/test/intents/${await money.refOf(disputed)}/disputes`, { amount: 300 });
  await eventually("the dispute to be known", async () => (await money.record(disputed)).status === "disputed");
  const { refund } = await services.payments.refundPayment({ ...money.owner, paymentId: refunded, amount: 400n });
  await services.processor("POST", `/test/refunds/${refund?.connectorRef}`, { status: "failed" });
  await eventually("the failed refund to be known", async () => (await money.record(refunded)).refundedAmount === 0n);
  await services.processor("POST", `/test/intents/${await money.refOf(returned)}/return`);
  const ended = await eventually("the return to be known", async () => {
    const payment = await money.record(returned);
    return payment.status === "failed" && payment;
  });
  assert.deepEqual([ended.netAmount, ended.feeAmount], [0n, 0n]);
  assert.equal((await money.announced(returned)).at(-1), "payment.failed");
  assert.deepEqual(
    [await balance(returned, "processor_clearing"), await balance(returned, "merchant_balance")],
    [0, 0],
  );
});

test("a repeated key answers its refund although refunds were switched off meanwhile", async () => {
  const paymentId = await money.paid();
  await money.fault("api.refunds.create", "error_after");
  await money.fault("api.refunds.get", "error_before");
  const key = { key: randomBytes(8).toString("hex"), fingerprint: Buffer.alloc(32, 1) };
  const ask = () => services.payments.refundPayment({ ...money.owner, paymentId, amount: 400n, idempotency: key });
  const { refund } = await ask();
  // As if the process had died before it stored the answer, and an operator had switched refunds off then.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key.key]);
  const merchant = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  const state = (refundsEnabled: boolean) =>
    merchant.client(MerchantService).updateMerchantState({ merchantId: services.merchantId, refundsEnabled });
  try {
    await state(false);
    await eventually("refunds to be off", () =>
      services.payments.refundPayment({ ...money.owner, paymentId, amount: 1n }).then(
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

test("canceling an intent that was never made announces payment.canceled", async () => {
  const paymentId = await money.created();
  await db.rows(`update payments set connector_ref = null, render = null where id = $1`, [paymentId]);
  await services.processor(
    "POST",
    `/test/intents/${(await money.atProcessor(`/api/intents?reference=${paymentId}`))[0]?.id}/lose`,
  );
  await eventually("the payment to end", async () => {
    const { payment } = await services.payments.cancelIntent({ paymentId });
    return payment?.status === "canceled";
  });
  assert.deepEqual(await money.announced(paymentId), ["payment.canceled"]);
});

test.run();
