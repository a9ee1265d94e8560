// Refunds and intents over RPC, against the simulator with its faults switched on.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import { SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("refunds and intents", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
test.afterEach(() => services.processor("DELETE", "/test/faults"));

function refund(paymentId: string, amount?: bigint, key?: string) {
  const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: randomBytes(32).fill(1) } };
  return services.payments.refundPayment({ ...money.owner, paymentId, ...(amount ? { amount } : {}), ...idempotency });
}

function reasonOf(result: PromiseSettledResult<unknown>): string {
  return result.status === "fulfilled"
    ? "OK"
    : result.reason instanceof Failure
      ? result.reason.reason
      : String(result.reason);
}

test("twenty concurrent creations with one id make one intent at the processor", async () => {
  const request = money.order();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => services.payments.createIntent(request).catch(() => undefined)),
  );
  const secrets = new Set(answers.flatMap((a) => (a?.render ? [a.render.clientSecret] : [])));
  assert.equal(secrets.size, 1);
  assert.equal((await money.atProcessor(`/api/intents?reference=${request.paymentId}`)).length, 1);
});

test("a hundred concurrent partial refunds never exceed the captured amount", async () => {
  const paymentId = await money.paid();
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => refund(paymentId, 30n)));
  const reasons = results.map(reasonOf);
  assert.equal(reasons.filter((r) => r === "OK").length, 33);
  assert.equal(reasons.filter((r) => r === "AMOUNT_TOO_LARGE").length, 67);
  const payment = await money.record(paymentId);
  assert.equal(payment.refundedAmount, 990n);
  assert.equal(payment.refunds.filter((r) => r.status === "succeeded").length, 33);
});

test("an unproven refund is looked up before it is sent again, also when the processor forgot the key", async () => {
  const paymentId = await money.paid();
  await money.fault("api.refunds.create", "error_after");
  await money.fault("api.refunds.get", "error_before");
  const { refund: doubtful } = await refund(paymentId, 400n);
  assert.equal(doubtful?.status, "pending");
  const simulator = await openDatabase(services.simulatorDatabaseUrl);
  await simulator.rows(`delete from idempotency_keys`);
  await simulator.close();
  await db.rows(`update operations set next_try_at = now(), key_spent = false where refund_id = $1`, [doubtful?.id]);
  await eventually(
    "the refund to be settled",
    async () => (await money.record(paymentId)).refunds[0]?.status === "succeeded",
  );
  assert.equal((await money.atProcessor(`/api/refunds?reference=${doubtful?.id}`)).length, 1);
});

test("a retry answers the refund that was made and failed later", async () => {
  const paymentId = await money.paid();
  const key = randomBytes(8).toString("hex");
  await money.fault("api.refunds.create", "error_after");
  await money.fault("api.refunds.get", "error_before");
  const { refund: doubtful } = await refund(paymentId, 400n, key);
  // As if the process had died before it stored the answer.
  await db.rows(`update idempotency_keys set answer = null where key = $1`, [key]);
  const [made] = (await money.atProcessor(`/api/refunds?reference=${doubtful?.id}`)) as { id: string }[];
  await services.processor("POST", `/test/refunds/${made?.id}`, { status: "failed", failure_code: "declined" });
  await db.rows(`update operations set next_try_at = now() where refund_id = $1`, [doubtful?.id]);
  await eventually("the refund to fail", async () => (await money.record(paymentId)).refunds[0]?.status === "failed");
  const answer = await refund(paymentId, 400n, key);
  assert.deepEqual([answer.refund?.id, answer.refund?.status], [doubtful?.id, "failed"]);
});

test("a payment is scheduled for checks while one of its refunds is pending", async () => {
  const paymentId = await money.paid();
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
  await eventually(
    "the dashboard's refund to be known",
    async () => (await money.record(paymentId)).refunds.length === 2,
  );
  assert.equal(await isOnList(), true, "pending");
});

test("an unsent try does not release a refund that another worker has tried meanwhile", async () => {
  const paymentId = await money.paid();
  await money.fault("api.refunds.create", "error_before");
  await money.fault("api.refunds.get", "delay", { ms: 1_500 });
  const pending = refund(paymentId, 400n);
  // The first write of a worker that takes the operation over.
  await eventually("the operation to be in doubt", async () => {
    const claim = `update operations set tries = tries + 1 where payment_id = $1 and last_error <> '' returning id`;
    return (await db.rows(claim, [paymentId])).length === 1;
  });
  assert.equal((await pending).refund?.status, "pending");
  assert.equal((await money.record(paymentId)).refundedAmount, 400n);
});

test("canceling an intent that was paid settles it instead", async () => {
  const request = money.order();
  await services.payments.createIntent(request);
  await money.pay(request.paymentId);
  const { payment } = await services.payments.cancelIntent({ paymentId: request.paymentId });
  assert.equal(payment?.outcome, SessionOutcome.PAID);
  const unpaid = money.order();
  await services.payments.createIntent(unpaid);
  for (const _ of [1, 2]) {
    const canceled = await services.payments.cancelIntent({ paymentId: unpaid.paymentId });
    assert.equal(canceled.payment?.outcome, SessionOutcome.CANCELED);
  }
});

test.run();
