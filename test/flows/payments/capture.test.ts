// Concurrent intents, captures, cancellations and refunds over RPC, against the simulator; the books must agree.
import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { openDatabase } from "../../harness/database.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("captures and cancellations", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
test.afterEach(async () => {
  const found: unknown[] = [];
  await checkJournal(db, (difference) => found.push(difference));
  assert.deepEqual(found, [], "the books agree");
});

/** A session's payment that is not paid yet. */
const unpaid = () => money.created({ captureMethod: "manual" });

async function authorized(): Promise<string> {
  const held = await unpaid();
  await money.pay(held);
  const { payment } = await services.payments.verifyIntent({ paymentId: held });
  assert.deepEqual([payment?.status, payment?.outcome], ["succeeded", SessionOutcome.PAID]);
  return held;
}

async function capture(paymentId: string, amount?: bigint): Promise<void> {
  await services.payments.capturePayment({ ...money.owner, paymentId, ...(amount && { amount }) });
}

const cancel = (paymentId: string) => services.payments.cancelPayment({ ...money.owner, paymentId });

/** How often the processor did it. */
async function doneAt(paymentId: string, kind: string): Promise<number> {
  const operations = await money.atProcessor(`/test/operations?reference=${paymentId}`);
  return operations.filter((operation) => operation.kind === kind).length;
}

function reasonOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === "fulfilled") return "OK";
  return result.reason instanceof Failure ? result.reason.reason : String(result.reason);
}

test("payments of a batch keep the order of their ids, and missing ones are named", async () => {
  const [first, second, missing] = [await authorized(), await authorized(), newId("payment")];
  await capture(second);
  const { payments, missingIds } = await services.payments.batchGetPayments({ paymentIds: [second, missing, first] });
  assert.deepEqual([payments, missingIds], [[await money.record(second), await money.record(first)], [missing]]);
  const { payments: listed } = await services.payments.listPayments({ ...money.owner, limit: 2 });
  assert.deepEqual(
    listed.map(({ id, merchantId, capturedAt }) => [id, merchantId, capturedAt]),
    [second, first].map((id, i) => [id, money.owner.merchantId, payments[i]?.capturedAt]),
  );
});

test("an event carries the payment's amount and reference, or the amount of its refund", async () => {
  const paymentId = await money.paid({ orderReference: "order 1" });
  await services.payments.refundPayment({ ...money.owner, paymentId, amount: 250n });
  const rows = await db.rows<{ body: Buffer }>("select body from outbox where position($1::bytea in body) > 0", [
    Buffer.from(paymentId),
  ]);
  const events = rows.map(({ body }) => fromBinary(EventSchema, body));
  for (const [type, amount] of [
    ["payment.succeeded", 1_000n],
    ["payment.refund_succeeded", 250n],
  ] as const) {
    const event = events.find((one) => one.type === type);
    assert.deepEqual(
      [event?.money?.amount, event?.money?.currency, event?.reference],
      [amount, "EUR", "order 1"],
      type,
    );
  }
});

test("of several captures and a cancellation at once exactly one succeeds, and its money is booked once", async () => {
  for (let round = 0; round < 5; round++) {
    const held = await authorized();
    const calls = [capture(held, 100n), capture(held, 200n), cancel(held), capture(held, 300n), capture(held)];
    const results = await Promise.allSettled(round % 2 === 0 ? calls : calls.toReversed());
    const reasons = results.map(reasonOf);
    assert.equal(reasons.filter((reason) => reason === "OK").length, 1, reasons.join(", "));
    for (const reason of reasons) assert.match(reason, /^(OK|NOT_CAPTURABLE|NOT_CANCELABLE)$/);
    const { status, capturedAmount } = await money.record(held);
    const captures = (await money.movements(held)).filter((booked) => booked.startsWith("captured"));
    assert.deepEqual(captures, capturedAmount > 0n ? [`captured ${capturedAmount}`] : []);
    assert.equal(status, capturedAmount > 0n ? "succeeded" : "canceled");
    assert.equal((await doneAt(held, "intents.capture")) + (await doneAt(held, "intents.cancel")), 1);
  }
});

test("an authorization stays scheduled for checks until after its time, a captured payment does not", async () => {
  const held = await authorized();
  const listed = async () => {
    const [row] = await db.rows<{ listed: boolean; soon: boolean }>(
      `select next_check_at is not null as listed, next_check_at <= capture_before + interval '1 day' as soon
       from payments where id = $1`,
      [held],
    );
    return [row?.listed, row?.soon];
  };
  assert.deepEqual(await listed(), [true, true]);
  await capture(held);
  assert.deepEqual(await listed(), [false, null]);
});

test("a session's end never releases an authorization, also one that is not known yet", async () => {
  const held = await unpaid();
  await money.pay(held);
  const { payment } = await services.payments.cancelIntent({ paymentId: held });
  assert.deepEqual([payment?.status, payment?.outcome], ["succeeded", SessionOutcome.PAID]);
  assert.ok((await money.record(held)).captureBefore);
});

test("the database refuses a second capture or cancellation of a payment", async () => {
  const held = await authorized();
  await capture(held, 400n);
  const begin = (kind: string, amount: number | null) =>
    db.rows(
      `insert into operations (id, kind, payment_id, reference, amount, next_try_at) values ($1, $2, $3, $4, $5, now())`,
      [newId("operation"), kind, held, held, amount],
    );
  await assert.rejects(begin("capture", 100), /operations_kind_reference_key/);
  await assert.rejects(begin("cancel", 100), /operations_capture_has_amount/);
  const other = await authorized();
  const twoAtOnce = `insert into operations (id, kind, payment_id, reference, amount, next_try_at)
    values ($1, 'capture', $3, $3, 1, now()), ($2, 'cancel', $3, $3, null, now())`;
  await assert.rejects(db.rows(twoAtOnce, [newId("operation"), newId("operation"), other]), /operations_one_ending/);
  const tooMuch = `update payments set captured_amount = amount + 1, captured_at = now() where id = $1`;
  await assert.rejects(db.rows(tooMuch, [other]), /payments_check/);
});

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
  const refund = () => services.payments.refundPayment({ ...money.owner, paymentId, amount: 30n });
  const results = await Promise.allSettled(Array.from({ length: 100 }, refund));
  const reasons = results.map(reasonOf);
  assert.equal(reasons.filter((r) => r === "OK").length, 33);
  assert.equal(reasons.filter((r) => r === "AMOUNT_TOO_LARGE").length, 67);
  const payment = await money.record(paymentId);
  assert.equal(payment.refundedAmount, 990n);
  assert.equal(payment.refunds.filter((r) => r.status === "succeeded").length, 33);
});

test.run();
