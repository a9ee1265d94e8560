// Captures and cancellations over RPC, against the simulator with its faults switched on.
import assert from "node:assert/strict";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";

const test = suite("captures and cancellations", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices({ eventPollSeconds: 1 }));
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
test.afterEach(async () => {
  await services.processor("DELETE", "/test/faults");
  const found: unknown[] = [];
  await checkJournal(db, (difference) => found.push(difference));
  assert.deepEqual(found, [], "the books agree");
});

/** A session's payment that is not paid yet. */
const unpaid = (captureMethod = "manual") => money.created({ captureMethod });

async function authorized(): Promise<string> {
  const held = await unpaid();
  await money.pay(held);
  const { payment } = await services.payments.verifyIntent({ paymentId: held });
  assert.deepEqual([payment?.status, payment?.outcome], ["succeeded", SessionOutcome.PAID]);
  return held;
}

const keyed = (key: string | undefined) =>
  key === undefined ? {} : { idempotency: { key, fingerprint: new Uint8Array(32).fill(1) } };

async function capture(paymentId: string, amount?: bigint, key?: string) {
  const input = { ...money.owner, paymentId, ...(amount && { amount }), ...keyed(key) };
  const answer = await services.payments.capturePayment(input);
  assert.ok(answer.payment);
  return { ...answer.payment, replayed: answer.replayed };
}

async function cancel(paymentId: string) {
  const { payment } = await services.payments.cancelPayment({ ...money.owner, paymentId });
  assert.ok(payment);
  return payment;
}

/** Changes the payment's intent at the processor's dashboard. */
async function atDashboard(paymentId: string, action: string, body: object = {}) {
  return await services.processor("POST", `/test/intents/${await money.refOf(paymentId)}/${action}`, body);
}

/** How often the processor did it. */
async function doneAt(paymentId: string, kind: string): Promise<number> {
  const operations = await money.atProcessor(`/test/operations?reference=${paymentId}`);
  return operations.filter((operation) => operation.kind === kind).length;
}

async function operationsOf(paymentId: string): Promise<string[]> {
  const rows = await db.rows<{ what: string }>(
    `select kind || ' ' || state as what from operations where payment_id = $1 and kind <> 'create_intent' order by 1`,
    [paymentId],
  );
  return rows.map(({ what }) => what);
}

function reasonOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === "fulfilled") return "OK";
  return result.reason instanceof Failure ? result.reason.reason : String(result.reason);
}

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

test("a capture behind an edge error is sent again by the same request, and made once", async () => {
  const held = await authorized();
  await money.fault("api.intents.capture", "edge_error");
  const first = await capture(held, 400n);
  assert.equal(first.capturedAmount, 0n, "an edge error proves nothing");
  const joined = await capture(held, 400n);
  assert.equal(joined.capturedAmount, 400n);
  assert.equal(await doneAt(held, "intents.capture"), 1);
});

test("a processor event that arrives before the answer completes the capture", async () => {
  const held = await authorized();
  await money.fault("api.intents.capture", "hang_after");
  const pending = capture(held, 400n);
  await eventually("the processor to capture", async () => (await doneAt(held, "intents.capture")) === 1);
  await eventually("its event to be read", async () => (await money.record(held)).capturedAmount === 400n);
  assert.deepEqual(await operationsOf(held), ["capture done"]);
  assert.equal((await pending).capturedAmount, 400n);
  assert.deepEqual(await money.movements(held), ["captured 400", "fee_charged 42"]);
});

test("a capture at the processor's dashboard is the merchant's, and cannot be repeated", async () => {
  const held = await authorized();
  await atDashboard(held, "capture", { amount: 250 });
  await assert.rejects(capture(held, 400n), refused("NOT_CAPTURABLE"));
  const payment = await money.record(held);
  assert.deepEqual([payment.capturedAmount, await operationsOf(held)], [250n, ["capture done"]]);
  assert.deepEqual(await money.movements(held), ["captured 250", "fee_charged 37"]);
});

test("an expired authorization is noticed by the event list, and by a check after its time", async () => {
  const [notified, polled] = [await authorized(), await authorized()];
  await atDashboard(notified, "lapse");
  await eventually("the event to be read", async () => (await money.record(notified)).status === "canceled");
  await money.fault("api.events.get", "error_before", { count: 50 });
  await atDashboard(polled, "lapse");
  const over = `update payments set capture_before = now() - interval '1 hour' where id = $1`;
  await db.rows(over, [polled]);
  assert.equal((await money.record(polled)).status, "canceled", "a read checks it first");
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

test("an unpaid payment whose page has ended can be canceled", async () => {
  const held = await unpaid();
  await money.pay(held, "4000000000000002");
  await services.payments.verifyIntent({ paymentId: held });
  await atDashboard(held, "end-page");
  assert.equal((await cancel(held)).status, "canceled");
  assert.deepEqual(await operationsOf(held), ["cancel done"]);
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

test.run();
