// Refunds and intents through the payments service's own door, against the real simulator with its faults switched on.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";

const test = suite("refunds and intents", { timeoutMs: 30_000 });
let services: MoneyServices;
let db: Database;

test.before(async () => {
  services = await startMoneyServices();
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
});
test.after(async () => {
  await db.close();
  await services.stop();
});
test.afterEach(() => services.processor("DELETE", "/test/faults"));

const card = "4242424242424242";

function order(id = newId("payment")) {
  const { merchantId, environment } = services;
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  return {
    paymentId: id,
    sessionId: `cs_${id.slice(4)}`,
    merchantId,
    environment,
    amount: 1_000n,
    currency: "EUR",
    expiresAt,
  };
}

async function paidPayment(number = card): Promise<string> {
  const request = order();
  await services.payments.createIntent(request);
  await pay(request.paymentId, number);
  const { payment } = await services.payments.verifyIntent({ paymentId: request.paymentId });
  assert.equal(payment?.outcome, SessionOutcome.PAID);
  return request.paymentId;
}

async function pay(paymentId: string, number: string): Promise<void> {
  const [row] = await db.rows<{ connector_ref: string }>(`select connector_ref from payments where id = $1`, [
    paymentId,
  ]);
  await services.processor("POST", `/test/intents/${row?.connector_ref}/pay`, { card: number });
}

function refund(paymentId: string, amount?: bigint, key?: string) {
  const { merchantId, environment } = services;
  const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: randomBytes(32).fill(1) } };
  return services.payments.refundPayment({
    merchantId,
    environment,
    paymentId,
    ...(amount ? { amount } : {}),
    ...idempotency,
  });
}

async function record(paymentId: string) {
  const { merchantId, environment } = services;
  const { payment } = await services.payments.getPayment({ merchantId, environment, paymentId });
  assert.ok(payment);
  return payment;
}

/** What the processor itself holds under one of our references. */
async function atProcessor(path: string): Promise<unknown[]> {
  const { body } = await services.processor("GET", path);
  return (body as { data: unknown[] }).data;
}

function reasonOf(result: PromiseSettledResult<unknown>): string {
  return result.status === "fulfilled"
    ? "OK"
    : result.reason instanceof Failure
      ? result.reason.reason
      : String(result.reason);
}

test("a paid intent becomes a full payment record, and repeating the creation answers the same intent", async () => {
  const request = order();
  const [one, two] = [await services.payments.createIntent(request), await services.payments.createIntent(request)];
  assert.equal(one.render?.clientSecret, two.render?.clientSecret);
  await pay(request.paymentId, card);
  await services.payments.verifyIntent({ paymentId: request.paymentId });
  const payment = await record(request.paymentId);
  assert.equal(payment.status, "succeeded");
  assert.equal(payment.card?.last4, "4242");
  assert.notEqual(payment.authorizationCode, "");
  assert.notEqual(payment.receiptUrl, "");
  assert.equal(payment.netAmount, payment.amount - payment.feeAmount);
});

test("twenty creations at once with one id make one intent at the processor", async () => {
  const request = order();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => services.payments.createIntent(request).catch(() => undefined)),
  );
  const secrets = new Set(answers.flatMap((a) => (a?.render ? [a.render.clientSecret] : [])));
  assert.equal(secrets.size, 1);
  assert.equal((await atProcessor(`/api/intents?reference=${request.paymentId}`)).length, 1);
});

test("nobody refunds another merchant's payment, or with a key of the other environment", async () => {
  const paymentId = await paidPayment();
  const { merchantId, environment } = services;
  for (const owner of [
    { merchantId, environment: Environment.LIVE },
    { merchantId: newId("merchant"), environment },
  ]) {
    await assert.rejects(services.payments.refundPayment({ ...owner, paymentId, amount: 1n }), refused("NOT_FOUND"));
  }
  assert.equal((await refund(paymentId)).paymentStatus, "refunded");
});

test("a merchant whose refunds are switched off makes none, and makes them again afterwards", async () => {
  const paymentId = await paidPayment();
  const peer = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  const { merchantId } = services;
  const set = (refundsEnabled: boolean) =>
    peer.client(MerchantService).updateMerchantState({ merchantId, refundsEnabled });
  try {
    await set(false);
    // Once payments has heard of it; what was refunded until then counts.
    await eventually("refunds to be refused", async () => {
      const answer = await refund(paymentId, 1n).catch((error: unknown) => error);
      return refused("FEATURE_DISABLED")(answer);
    });
  } finally {
    await set(true);
  }
  await eventually("refunds to be made", async () => (await refund(paymentId, 1n)).refund?.status === "succeeded");
  peer.close();
});

test("a hundred partial refunds at once never exceed the captured amount", async () => {
  const paymentId = await paidPayment();
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => refund(paymentId, 30n)));
  const reasons = results.map(reasonOf);
  assert.equal(reasons.filter((r) => r === "OK").length, 33);
  assert.equal(reasons.filter((r) => r === "AMOUNT_TOO_LARGE").length, 67);
  const payment = await record(paymentId);
  assert.equal(payment.refundedAmount, 990n);
  assert.equal(payment.refunds.filter((r) => r.status === "succeeded").length, 33);
});

test("a repeated refund with the same key is replayed, also when many arrive at once", async () => {
  const paymentId = await paidPayment();
  const key = randomBytes(8).toString("hex");
  const results = await Promise.allSettled(Array.from({ length: 30 }, () => refund(paymentId, 100n, key)));
  const reasons = new Set(results.map(reasonOf));
  reasons.delete("OK");
  reasons.delete("IDEMPOTENCY_CONFLICT");
  assert.deepEqual([...reasons], []);
  const again = await refund(paymentId, 100n, key);
  assert.equal(again.replayed, true);
  assert.equal((await record(paymentId)).refundedAmount, 100n);
});

test("a refund whose answer never came stays pending, and asking again finds it done once", async () => {
  const paymentId = await paidPayment();
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "hang_after", count: 1 });
  const { refund: hung } = await refund(paymentId, 400n);
  const stored = (await record(paymentId)).refunds;
  assert.equal(stored.length, 1);
  assert.ok(hung?.status === "pending" || hung?.status === "succeeded");
  assert.equal((await atProcessor(`/api/refunds?reference=${hung?.id}`)).length, 1);
});

test("a refund that the processor did and then answered with a fault is found by our reference", async () => {
  const paymentId = await paidPayment();
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_after", count: 1 });
  const answer = await refund(paymentId, 400n);
  assert.equal(answer.refund?.status, "succeeded");
  assert.equal((await record(paymentId)).status, "partially_refunded");
});

test("an answered 500 is no proof: the refund stays pending and holds its amount, and a repeat of the key is the same refund", async () => {
  const paymentId = await paidPayment();
  const key = randomBytes(8).toString("hex");
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_before", count: 1 });
  const first = await refund(paymentId, 400n, key);
  assert.equal(first.refund?.status, "pending");
  const again = await refund(paymentId, 400n, key);
  assert.deepEqual([again.refund?.id, again.replayed], [first.refund?.id, true]);
  const payment = await record(paymentId);
  assert.deepEqual([payment.refundedAmount, payment.refunds.length], [400n, 1]);
});

test("a refund in doubt is asked for before it is sent again, so that a processor that forgot the key makes no second one", async () => {
  const paymentId = await paidPayment();
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_after", count: 1 });
  await services.processor("PUT", "/test/faults", { target: "api.refunds.get", kind: "error_before", count: 1 });
  const { refund: doubtful } = await refund(paymentId, 400n);
  assert.equal(doubtful?.status, "pending");
  const simulator = await Database.open({
    url: services.simulatorDatabaseUrl,
    name: "test",
    log: createLog("test", "fatal"),
  });
  await simulator.rows(`delete from idempotency_keys`);
  await simulator.close();
  await db.rows(`update operations set next_try_at = now(), key_spent = false where refund_id = $1`, [doubtful?.id]);
  await eventually(
    "the refund to be settled",
    async () => (await record(paymentId)).refunds[0]?.status === "succeeded",
  );
  assert.equal((await atProcessor(`/api/refunds?reference=${doubtful?.id}`)).length, 1);
});

test("a retry of a refund that was made and failed later is told so, since an error would invite it for ever", async () => {
  const paymentId = await paidPayment();
  const key = randomBytes(8).toString("hex");
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_after", count: 1 });
  await services.processor("PUT", "/test/faults", { target: "api.refunds.get", kind: "error_before", count: 1 });
  const { refund: doubtful } = await refund(paymentId, 400n, key);
  // As if the process had died before it stored the answer.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key]);
  const [made] = (await atProcessor(`/api/refunds?reference=${doubtful?.id}`)) as { id: string }[];
  await services.processor("POST", `/test/refunds/${made?.id}`, { status: "failed", failure_code: "declined" });
  await db.rows(`update operations set next_try_at = now() where refund_id = $1`, [doubtful?.id]);
  await eventually("the refund to fail", async () => (await record(paymentId)).refunds[0]?.status === "failed");
  const answer = await refund(paymentId, 400n, key);
  assert.deepEqual([answer.refund?.id, answer.refund?.status], [doubtful?.id, "failed"]);
});

test("a payment is asked about while a refund of it is pending at the processor, and no longer", async () => {
  const paymentId = await paidPayment();
  const isOnList = async () => {
    const [row] = await db.rows<{ scheduled: boolean }>(
      `select next_check_at is not null as scheduled from payments where id = $1`,
      [paymentId],
    );
    return row?.scheduled;
  };
  await refund(paymentId, 100n);
  assert.equal(await isOnList(), false, "settled");
  const [row] = await db.rows<{ connector_ref: string }>(`select connector_ref from payments where id = $1`, [
    paymentId,
  ]);
  await services.processor("POST", `/test/intents/${row?.connector_ref}/refunds`, { amount: 100, status: "pending" });
  await db.rows(`update payments set next_check_at = now() where id = $1`, [paymentId]);
  await eventually("the dashboard's refund to be known", async () => (await record(paymentId)).refunds.length === 2);
  assert.equal(await isOnList(), true, "pending");
});

test("a refund that another worker has tried meanwhile is not given back by a try that was never sent", async () => {
  const paymentId = await paidPayment();
  await services.processor("PUT", "/test/faults", { target: "api.refunds.create", kind: "error_before", count: 1 });
  await services.processor("PUT", "/test/faults", { target: "api.refunds.get", kind: "delay", ms: 1_500, count: 1 });
  const pending = refund(paymentId, 400n);
  // What a worker does first that takes the operation over.
  await eventually("the operation to be in doubt", async () => {
    const claim = `update operations set tries = tries + 1 where payment_id = $1 and last_error <> '' returning id`;
    return (await db.rows(claim, [paymentId])).length === 1;
  });
  assert.equal((await pending).refund?.status, "pending");
  assert.equal((await record(paymentId)).refundedAmount, 400n);
});

test("a declined card leaves the session open, a later good card pays, and the failure was counted once", async () => {
  const request = order();
  await services.payments.createIntent(request);
  await pay(request.paymentId, "4000000000000002");
  for (const _ of [1, 2]) {
    const { payment } = await services.payments.verifyIntent({ paymentId: request.paymentId });
    assert.deepEqual([payment?.status, payment?.outcome, payment?.failedAttempts], ["failed", SessionOutcome.OPEN, 1]);
  }
  await pay(request.paymentId, card);
  const { payment } = await services.payments.verifyIntent({ paymentId: request.paymentId });
  assert.equal(payment?.status, "succeeded");
});

test("canceling an intent that was paid meanwhile settles it instead", async () => {
  const request = order();
  await services.payments.createIntent(request);
  await pay(request.paymentId, card);
  const { payment } = await services.payments.cancelIntent({ paymentId: request.paymentId });
  assert.equal(payment?.outcome, SessionOutcome.PAID);
  const unpaid = order();
  await services.payments.createIntent(unpaid);
  for (const _ of [1, 2]) {
    const canceled = await services.payments.cancelIntent({ paymentId: unpaid.paymentId });
    assert.equal(canceled.payment?.outcome, SessionOutcome.CANCELED);
  }
});

test("an intent whose creation was answered with a fault is made once under the same payment id", async () => {
  const request = order();
  await services.processor("PUT", "/test/faults", { target: "api.intents.create", kind: "error_after", count: 1 });
  await services.payments
    .createIntent(request)
    .catch((error: unknown) => assert.match(String(error), /CONNECTOR_ERROR/));
  await services.payments.createIntent(request);
  assert.equal((await atProcessor(`/api/intents?reference=${request.paymentId}`)).length, 1);
});

test.run();
