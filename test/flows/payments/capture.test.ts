// Captures and cancellations through the payments service's own door, against the real simulator with its faults
// switched on.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { eventually } from "../../harness/eventually.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";

const test = suite("captures and cancellations", { timeoutMs: 30_000 });
let services: MoneyServices;
let db: Database;

test.before(async () => {
  services = await startMoneyServices({ eventPollSeconds: 1 });
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
});
test.after(async () => {
  await db.close();
  await services.stop();
});
test.afterEach(async () => {
  await services.processor("DELETE", "/test/faults");
  const found: unknown[] = [];
  await checkJournal(db, (difference) => found.push(difference));
  assert.deepEqual(found, [], "the books agree");
});

interface HeldPayment {
  readonly paymentId: string;
  /** At the processor. */
  readonly intent: string;
}

/** A session's payment that is not paid yet. */
async function unpaid(captureMethod = "manual"): Promise<HeldPayment> {
  const { merchantId, environment } = services;
  const paymentId = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const money = { amount: 1_000n, currency: "EUR" };
  const whose = { paymentId, sessionId: `cs_${paymentId.slice(4)}`, merchantId, environment };
  await services.payments.createIntent({ ...whose, ...money, expiresAt, captureMethod });
  const [row] = await db.rows<{ ref: string }>(`select connector_ref as ref from payments where id = $1`, [paymentId]);
  return { paymentId, intent: row?.ref ?? "" };
}

async function pay({ intent }: HeldPayment, card = "4242424242424242"): Promise<void> {
  await services.processor("POST", `/test/intents/${intent}/pay`, { card });
}

async function authorized(): Promise<HeldPayment> {
  const held = await unpaid();
  await pay(held);
  const { payment } = await services.payments.verifyIntent({ paymentId: held.paymentId });
  assert.deepEqual([payment?.status, payment?.outcome], ["succeeded", SessionOutcome.PAID]);
  return held;
}

const keyed = (key: string | undefined) =>
  key === undefined ? {} : { idempotency: { key, fingerprint: new Uint8Array(32).fill(1) } };
const freshKey = () => randomBytes(8).toString("hex");

async function capture({ paymentId }: HeldPayment, amount?: bigint, key?: string) {
  const { merchantId, environment } = services;
  const input = { merchantId, environment, paymentId, ...(amount && { amount }), ...keyed(key) };
  const answer = await services.payments.capturePayment(input);
  assert.ok(answer.payment);
  return { ...answer.payment, replayed: answer.replayed };
}

async function cancel({ paymentId }: HeldPayment, key?: string) {
  const { merchantId, environment } = services;
  const { payment } = await services.payments.cancelPayment({ merchantId, environment, paymentId, ...keyed(key) });
  assert.ok(payment);
  return payment;
}

async function record({ paymentId }: HeldPayment) {
  const { merchantId, environment } = services;
  const { payment } = await services.payments.getPayment({ merchantId, environment, paymentId });
  assert.ok(payment);
  return payment;
}

const fault = (target: string, kind: string, more: object = {}) =>
  services.processor("PUT", "/test/faults", { target, kind, count: 1, ...more });

/** How often the processor did it. */
async function doneAt({ paymentId }: HeldPayment, kind: string): Promise<number> {
  const { body } = await services.processor("GET", `/test/operations?reference=${paymentId}`);
  return (body as { data: { kind: string }[] }).data.filter((operation) => operation.kind === kind).length;
}

async function bookings({ paymentId }: HeldPayment): Promise<string[]> {
  const rows = await db.rows<{ kind: string; amount: string }>(
    `select kind, amount from journal where payment_id = $1 order by id`,
    [paymentId],
  );
  return rows.map(({ kind, amount }) => `${kind} ${amount}`);
}

async function operationsOf({ paymentId }: HeldPayment): Promise<string[]> {
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

/** Makes the job ask about what is under way now. */
const due = ({ paymentId }: HeldPayment) =>
  db.rows(`update operations set next_try_at = now() where payment_id = $1 and state = 'started'`, [paymentId]);

test("what is authorized is no money yet: no fee, nothing booked, nothing to refund, and until when it can be captured", async () => {
  const held = await authorized();
  const payment = await record(held);
  assert.deepEqual([payment.status, payment.feeAmount, payment.netAmount], ["succeeded", 0n, 0n]);
  assert.deepEqual([payment.captureMethod, payment.capturedAmount, payment.capturedAt], ["manual", 0n, undefined]);
  assert.ok(payment.captureBefore && payment.authorizedAt);
  assert.ok(timestampDate(payment.captureBefore) > timestampDate(payment.authorizedAt));
  assert.deepEqual(await bookings(held), []);
  const { merchantId, environment } = services;
  const { paymentId } = held;
  for (const amount of [{}, { amount: 1n }]) {
    const refund = services.payments.refundPayment({ merchantId, environment, paymentId, ...amount });
    await assert.rejects(refund, refused("NOT_REFUNDABLE"));
  }
});

test("a capture of a part takes that part with its fee, and is the last one", async () => {
  const held = await authorized();
  await assert.rejects(capture(held, 1_001n), refused("AMOUNT_TOO_LARGE"));
  const payment = await capture(held, 400n);
  assert.deepEqual([payment.capturedAmount, payment.feeAmount, payment.captureBefore], [400n, 42n, undefined]);
  assert.ok(payment.capturedAt);
  assert.deepEqual(await bookings(held), ["captured 400", "fee_charged 42"]);
  for (const amount of [400n, 600n, undefined]) await assert.rejects(capture(held, amount), refused("NOT_CAPTURABLE"));
  await assert.rejects(cancel(held), refused("NOT_CANCELABLE"));
  assert.deepEqual(await operationsOf(held), ["capture done"]);
});

test("several captures and a cancellation at once: exactly one wins, and its money is booked once", async () => {
  for (let round = 0; round < 5; round++) {
    const held = await authorized();
    const calls = [capture(held, 100n), capture(held, 200n), cancel(held), capture(held, 300n), capture(held)];
    const results = await Promise.allSettled(round % 2 === 0 ? calls : calls.toReversed());
    const reasons = results.map(reasonOf);
    assert.equal(reasons.filter((reason) => reason === "OK").length, 1, reasons.join(", "));
    for (const reason of reasons) assert.match(reason, /^(OK|NOT_CAPTURABLE|NOT_CANCELABLE)$/);
    const { status, capturedAmount } = await record(held);
    const captures = (await bookings(held)).filter((booked) => booked.startsWith("captured"));
    assert.deepEqual(captures, capturedAmount > 0n ? [`captured ${capturedAmount}`] : []);
    assert.equal(status, capturedAmount > 0n ? "succeeded" : "canceled");
    assert.equal((await doneAt(held, "intents.capture")) + (await doneAt(held, "intents.cancel")), 1);
  }
});

test("a repeated capture with the same key is replayed, also when many arrive at once; the processor is asked once", async () => {
  const held = await authorized();
  const key = freshKey();
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => capture(held, 500n, key)));
  const reasons = new Set(results.map(reasonOf));
  reasons.delete("IDEMPOTENCY_CONFLICT");
  assert.deepEqual([...reasons], ["OK"]);
  const again = await capture(held, 500n, key);
  assert.deepEqual([again.replayed, again.capturedAmount], [true, 500n]);
  assert.equal(await doneAt(held, "intents.capture"), 1);
});

test("nobody captures or cancels another merchant's payment, or with a key of the other environment", async () => {
  const held = await authorized();
  const { merchantId, environment } = services;
  const { paymentId } = held;
  for (const owner of [
    { merchantId, environment: Environment.LIVE },
    { merchantId: newId("merchant"), environment },
  ]) {
    await assert.rejects(services.payments.capturePayment({ ...owner, paymentId }), refused("NOT_FOUND"));
    await assert.rejects(services.payments.cancelPayment({ ...owner, paymentId }), refused("NOT_FOUND"));
  }
});

test("a capture whose answer never came is answered as the payment is, goes on under its key, and is found done once", async () => {
  const held = await authorized();
  const key = freshKey();
  await fault("api.intents.capture", "cut");
  await fault("api.intents.get", "error_before");
  // What the processor's own event would tell at once.
  await fault("api.events.get", "error_before", { count: 50 });
  const pending = await capture(held, 400n, key);
  assert.deepEqual([pending.status, pending.capturedAmount], ["succeeded", 0n]);
  assert.deepEqual(await operationsOf(held), ["capture started"]);
  await assert.rejects(capture(held, 500n), refused("NOT_CAPTURABLE"), "another amount while one is under way");
  await assert.rejects(cancel(held), refused("NOT_CANCELABLE"));
  assert.equal((await capture(held, 400n, key)).replayed, true);
  await due(held);
  await eventually("the job to find it", async () => (await record(held)).capturedAmount === 400n);
  assert.deepEqual(await operationsOf(held), ["capture done"]);
  assert.deepEqual(
    [await doneAt(held, "intents.capture"), await bookings(held)],
    [1, ["captured 400", "fee_charged 42"]],
  );
});

test("a capture that the processor refused to begin is sent again by the same request under another key, once", async () => {
  const held = await authorized();
  await fault("api.intents.capture", "edge_error");
  const first = await capture(held, 400n);
  assert.equal(first.capturedAmount, 0n, "an edge's word proves nothing");
  const joined = await capture(held, 400n);
  assert.equal(joined.capturedAmount, 400n);
  assert.equal(await doneAt(held, "intents.capture"), 1);
});

test("the processor's event that overtakes our own answer ends the capture, which is answered as done", async () => {
  const held = await authorized();
  await fault("api.intents.capture", "hang_after");
  const pending = capture(held, 400n);
  await eventually("the processor to capture", async () => (await doneAt(held, "intents.capture")) === 1);
  await eventually("its event to be read", async () => (await record(held)).capturedAmount === 400n);
  assert.deepEqual(await operationsOf(held), ["capture done"]);
  assert.equal((await pending).capturedAmount, 400n);
  assert.deepEqual(await bookings(held), ["captured 400", "fee_charged 42"]);
});

test("what was captured at the processor's dashboard is the merchant's, and cannot be captured again", async () => {
  const held = await authorized();
  await services.processor("POST", `/test/intents/${held.intent}/capture`, { amount: 250 });
  await assert.rejects(capture(held, 400n), refused("NOT_CAPTURABLE"));
  const payment = await record(held);
  assert.deepEqual([payment.capturedAmount, await operationsOf(held)], [250n, ["capture done"]]);
  assert.deepEqual(await bookings(held), ["captured 250", "fee_charged 37"]);
});

test("a dashboard's capture of the very amount that is asked for is what was asked for", async () => {
  const held = await authorized();
  await services.processor("POST", `/test/intents/${held.intent}/capture`, { amount: 400 });
  assert.equal((await capture(held, 400n)).capturedAmount, 400n);
});

test("an authorization that lapsed while a capture was under way ends it: nothing was captured", async () => {
  const held = await authorized();
  await fault("api.intents.capture", "edge_error");
  await fault("api.events.get", "error_before", { count: 50 });
  assert.equal((await capture(held)).capturedAmount, 0n);
  await services.processor("POST", `/test/intents/${held.intent}/lapse`, {});
  await assert.rejects(capture(held), refused("NOT_CAPTURABLE"));
  const payment = await record(held);
  assert.deepEqual([payment.status, payment.failure?.code], ["canceled", "expired"]);
  assert.deepEqual([await operationsOf(held), await bookings(held)], [["capture done"], []]);
});

test("a lapse is heard by the event list alone, and by asking once the time is over", async () => {
  const [notified, polled] = [await authorized(), await authorized()];
  await services.processor("POST", `/test/intents/${notified.intent}/lapse`, {});
  await eventually("the event to be read", async () => (await record(notified)).status === "canceled");
  await fault("api.events.get", "error_before", { count: 50 });
  await services.processor("POST", `/test/intents/${polled.intent}/lapse`, {});
  const over = `update payments set capture_before = now() - interval '1 hour' where id = $1`;
  await db.rows(over, [polled.paymentId]);
  assert.equal((await record(polled)).status, "canceled", "a reader is not shown what is over");
});

test("an authorization stays on the list of what is asked about, also for when its time is over, and a captured payment leaves it", async () => {
  const held = await authorized();
  const listed = async () => {
    const [row] = await db.rows<{ listed: boolean; soon: boolean }>(
      `select next_check_at is not null as listed, next_check_at <= capture_before + interval '1 day' as soon
       from payments where id = $1`,
      [held.paymentId],
    );
    return [row?.listed, row?.soon];
  };
  assert.deepEqual(await listed(), [true, true]);
  await capture(held);
  assert.deepEqual(await listed(), [false, null]);
});

test("a cancellation whose answer never came is answered as the payment is, and found done", async () => {
  const held = await authorized();
  await fault("api.intents.cancel", "cut");
  await fault("api.events.get", "error_before", { count: 50 });
  assert.equal((await cancel(held)).status, "succeeded");
  await assert.rejects(capture(held), refused("NOT_CAPTURABLE"), "a cancellation is under way");
  await due(held);
  await eventually("the job to find it", async () => (await record(held)).status === "canceled");
  assert.deepEqual(await operationsOf(held), ["cancel done"]);
});

test("an unpaid payment that its buyer has tried is canceled, and can be paid no more", async () => {
  const held = await unpaid("automatic");
  await pay(held, "4000000000000002");
  await services.payments.verifyIntent({ paymentId: held.paymentId });
  assert.equal((await cancel(held)).status, "canceled");
  const answer = await services.processor("POST", `/test/intents/${held.intent}/pay`, { card: "4242424242424242" });
  assert.equal((answer.body as { status: string }).status, "canceled");
  assert.equal((await cancel(held)).status, "canceled", "asked again");
});

test("an unpaid payment whose page has ended is canceled, though the processor has nothing to cancel any more", async () => {
  const held = await unpaid();
  await pay(held, "4000000000000002");
  await services.payments.verifyIntent({ paymentId: held.paymentId });
  await services.processor("POST", `/test/intents/${held.intent}/end-page`);
  assert.equal((await cancel(held)).status, "canceled");
  assert.deepEqual(await operationsOf(held), ["cancel done"]);
});

test("a cancellation that comes after the buyer has paid is refused, and what was paid is settled", async () => {
  const held = await unpaid("automatic");
  await pay(held, "4000000000000002");
  await services.payments.verifyIntent({ paymentId: held.paymentId });
  await pay(held);
  await assert.rejects(cancel(held), refused("NOT_CANCELABLE"));
  const payment = await record(held);
  assert.deepEqual([payment.status, payment.capturedAmount], ["succeeded", 1_000n]);
  assert.deepEqual(await operationsOf(held), ["cancel done"]);
});

test("a session's end never gives an authorization up, also when nobody has heard of it", async () => {
  const held = await unpaid();
  await pay(held);
  const { payment } = await services.payments.cancelIntent({ paymentId: held.paymentId });
  assert.deepEqual([payment?.status, payment?.outcome], ["succeeded", SessionOutcome.PAID]);
  assert.ok((await record(held)).captureBefore);
});

test("one database lets no second capture begin, whatever the code does", async () => {
  const held = await authorized();
  await capture(held, 400n);
  const begin = (kind: string, amount: number | null) =>
    db.rows(
      `insert into operations (id, kind, payment_id, reference, amount, next_try_at) values ($1, $2, $3, $4, $5, now())`,
      [newId("operation"), kind, held.paymentId, held.paymentId, amount],
    );
  await assert.rejects(begin("capture", 100), /operations_kind_reference_key/);
  await assert.rejects(begin("cancel", 100), /operations_capture_has_amount/);
  const other = await authorized();
  const twoAtOnce = `insert into operations (id, kind, payment_id, reference, amount, next_try_at)
    values ($1, 'capture', $3, $3, 1, now()), ($2, 'cancel', $3, $3, null, now())`;
  await assert.rejects(
    db.rows(twoAtOnce, [newId("operation"), newId("operation"), other.paymentId]),
    /operations_one_ending/,
  );
  const tooMuch = `update payments set captured_amount = amount + 1, captured_at = now() where id = $1`;
  await assert.rejects(db.rows(tooMuch, [other.paymentId]), /payments_check/);
});

test.run();
