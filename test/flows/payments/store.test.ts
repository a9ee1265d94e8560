// Concurrency guarantees of the payments tables: locks, claims, and updates that apply only to the version read.
import assert from "node:assert/strict";
import type { OutboxRows } from "#platform/events/outbox.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { insertPayments, recordIntents } from "../../../services/payments/store/new-payments.ts";
import {
  claimOperations,
  closeOperation,
  deferOperation,
  findOperation,
  firstTry,
  lockUntouched,
  recordTakeOver,
} from "../../../services/payments/store/operations.ts";
import {
  countParked,
  historyOf,
  parkedOperations,
  unparkOperation,
} from "../../../services/payments/store/operator-queue.ts";
import { claimChecks, deferCheck } from "../../../services/payments/store/payment-checks.ts";
import { findRecord } from "../../../services/payments/store/payment-records.ts";
import { changeAccount, findPayment, lockPayment, showPayment } from "../../../services/payments/store/payments.ts";
import { insertProcessorEvent, isKnownEvent } from "../../../services/payments/store/processor/processor-events.ts";
import { insertReservations } from "../../../services/payments/store/refunds/refund-reservations.ts";
import { findRefund, type StoredRefund, saveRefund } from "../../../services/payments/store/refunds/refunds.ts";
import { insertFunds } from "../../../services/payments/store/suspense.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("tables of payments", { timeoutMs: 20_000 });
const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };
const noEvents: OutboxRows = { ids: [], subjects: [], bodies: [] };
const account = { id: "mco_other", connector: "stripe", surface: "hosted" };
const pauses = [60, 120];

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));
test.beforeEach(async () => {
  await db.rows("update operations set state = 'done'");
  await db.rows("update payments set next_check_at = null");
});

/** A payment whose operation and check are due. */
async function newPayment(): Promise<{ id: Id<"payment">; operationId: string }> {
  const [id, operationId] = [newId("payment"), newId("operation")];
  assert.equal(await insertAgain(id, operationId), true);
  return { id, operationId };
}

async function insertAgain(id: Id<"payment">, operationId: string): Promise<boolean> {
  return await db.batched(insertPayments, paymentInsert({ id }, 0, operationId));
}

async function record(paymentId: string, connectorRef: string): Promise<void> {
  await db.batched(recordIntents, { paymentId, connectorRef, render: Buffer.alloc(0), renewals: 0 });
}

async function paidPayment(): Promise<Id<"payment">> {
  const { id } = await newPayment();
  await db.rows(
    `update payments set outcome = 'succeeded', captured_amount = amount, visible = true, authorized_at = now(), captured_at = now()
     where id = $1`,
    [id],
  );
  return id;
}

async function reserve(
  paymentId: string,
  amount: bigint,
  version?: number,
  events: OutboxRows = noEvents,
): Promise<StoredRefund | undefined> {
  const text = {
    reason: "",
    failureCode: "",
    failureMessage: "",
    connectorRef: "",
    connector: "simulator",
    currency: "EUR",
  };
  const refund = {
    ...owner,
    ...text,
    id: newId("refund"),
    paymentId,
    amount,
    acknowledged: false,
    unasked: false,
    createdAt: new Date(),
  };
  const pending = { ...refund, status: "pending" } as const;
  const operation = firstTry(newId("operation"), "create_refund", paymentId, undefined, { refundId: refund.id });
  const judged = version ?? (await versionOf(paymentId));
  const wanted = { version: judged, refund: pending, operation, tryAfterSeconds: 0, events };
  return (await db.batched(insertReservations, wanted)) ? pending : undefined;
}

async function versionOf(paymentId: string): Promise<number> {
  return (await findPayment(db, paymentId))?.version ?? assert.fail("no payment");
}

test("a refund reserves its amount only from the payment version that was checked", async () => {
  const id = await paidPayment();
  const version = await versionOf(id);
  for (const other of [version - 1, version + 1]) assert.equal(await reserve(id, 300n, other), undefined);
  assert.equal((await db.rows("select 1 from refunds where payment_id = $1", [id])).length, 0);
  assert.ok(await reserve(id, 300n, version));
  assert.equal(await reserve(id, 300n, version), undefined, "the version is old");
  assert.equal((await findPayment(db, id))?.state.refundedAmount, 300n);
});

test("a reservation is booked and announced in the same statement", async () => {
  const id = await paidPayment();
  const name = newId("event");
  const events = { ids: [name], subjects: ["test.subject"], bodies: [Buffer.from("body")] };
  assert.equal(await reserve(id, 300n, 0, events), undefined);
  assert.equal((await announced(name)).length, 0, "no reservation, no event");
  assert.ok(await reserve(id, 300n, undefined, events));
  assert.deepEqual(await announced(name), [{ subject: "test.subject" }]);
  const booked = await db.rows("select kind, debit, credit, amount from journal where payment_id = $1", [id]);
  const accounts = { debit: "merchant_balance", credit: "refunds_pending" };
  assert.deepEqual(booked, [{ kind: "refund_reserved", ...accounts, amount: "300" }]);
});

function announced(eventId: string): Promise<{ subject: string }[]> {
  return db.rows("select subject from outbox where event_id = $1", [eventId]);
}

test("a refund keeps its first processor id, and its end completes its operation", async () => {
  const refund = (await reserve(await paidPayment(), 300n)) ?? assert.fail();
  const save = (connectorRef: string, ends: boolean) =>
    db.transaction((tx) => saveRefund(tx, { ...refund, connectorRef }, ends));
  const stateOf = async () => (await findOperation(db, "create_refund", refund.id))?.state;
  await save("rf_1", false);
  assert.equal(await stateOf(), "started");
  await save("rf_2", true);
  assert.deepEqual([(await findRefund(db, refund.id))?.connectorRef, await stateOf()], ["rf_1", "done"]);
});

test("only one transaction at a time locks a payment", async () => {
  const { id } = await newPayment();
  const order: string[] = [];
  let second: Promise<void> = Promise.resolve();
  await db.transaction(async (tx) => {
    await lockPayment(tx, id);
    second = db.transaction(async (other) => {
      await lockPayment(other, id);
      order.push("second");
    });
    await eventually("the second transaction to wait", isWaiting);
    order.push("first");
  });
  await second;
  assert.deepEqual(order, ["first", "second"]);
});

async function isWaiting(): Promise<boolean> {
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await db.rows(waiting)).length > 0;
}

test("a payment that is inserted twice exists once, with one operation", async () => {
  const { id } = await newPayment();
  assert.equal(await insertAgain(id, newId("operation")), false);
  assert.equal((await db.rows("select 1 from operations where payment_id = $1", [id])).length, 1);
});

test("payments of one batch are each inserted once, and a refused amount fails alone", async () => {
  const [known, fresh] = [(await newPayment()).id, newId("payment")];
  const two = [known, fresh].map((id) => paymentInsert({ id }));
  assert.deepEqual(await insertPayments(db, two), [false, true]);
  const twice = newId("payment");
  const wanted = [
    ...[newId("payment"), newId("payment")].map((id) => paymentInsert({ id })),
    paymentInsert({ id: twice }),
    paymentInsert({ id: twice }),
  ];
  const [, bad] = wanted;
  assert.ok(bad);
  const all = [...wanted.slice(0, 1), { ...bad, payment: { ...bad.payment, amount: 0n } }, ...wanted.slice(2)];
  // The first is sent alone, the others in one batch.
  const made = await Promise.allSettled(all.map((each) => db.batched(insertPayments, each)));
  const results = made.map((each) => (each.status === "fulfilled" ? each.value : each.reason.code));
  assert.deepEqual([results[0], results[1], results.slice(2).sort()], [true, "23514", [false, true]]);
  const rows = await db.rows("select 1 from operations where payment_id = any($1)", [
    all.map(({ payment }) => payment.id),
  ]);
  assert.equal(rows.length, 2);
});

test("intents of one batch are each stored with their own payment", async () => {
  const ids = [(await newPayment()).id, (await newPayment()).id];
  await recordIntents(
    db,
    ids.map((paymentId) => ({
      paymentId,
      connectorRef: `pi_${paymentId}`,
      render: Buffer.from(paymentId),
      renewals: 0,
    })),
  );
  for (const id of ids) {
    const stored = await findPayment(db, id);
    assert.deepEqual([stored?.connectorRef, stored?.render?.toString(), stored?.renewals], [`pi_${id}`, id, 0]);
    const [operation] = await db.rows("select state from operations where payment_id = $1", [id]);
    assert.deepEqual(operation, { state: "done" });
  }
});

test("a locked payment does not block the others of its batch", async () => {
  const ids = (await Promise.all(Array.from({ length: 6 }, newPayment))).map(({ id }) => id);
  const [held = ""] = ids.slice(3);
  const [isHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await lockPayment(tx, held);
    isHeld.resolve();
    await release.promise;
  });
  await isHeld.promise;
  const recorded = ids.map((id) => record(id, `pi_${id}`));
  const free = (each: unknown, i: number) => ids[i] !== held && each;
  await Promise.all([...recorded.filter(free)]);
  assert.equal((await findPayment(db, held))?.connectorRef, "");
  release.resolve();
  await Promise.all([holding, ...recorded]);
  assert.equal((await findPayment(db, held))?.connectorRef, `pi_${held}`);
});

test("a transaction that waited for the lock sees the unexpected funds that its holder recorded", async () => {
  const { id: paymentId } = await newPayment();
  const [isHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await lockPayment(tx, paymentId);
    isHeld.resolve();
    await release.promise;
    const where = { ...owner, connector: "simulator", connectorAccountId: "mco_test", currency: "EUR" };
    const about = { id: newId("suspense"), kind: "second_charge", connectorRef: `pi_second_${paymentId}` } as const;
    await insertFunds(tx, { ...where, ...about, paymentId, refundId: "" });
  });
  await isHeld.promise;
  const waiting = db.transaction((tx) => lockPayment(tx, paymentId));
  await eventually("the second transaction to wait for the lock", async () => {
    const rows = await db.rows("select from pg_locks where not granted", []);
    return rows.length > 0;
  });
  release.resolve();
  await holding;
  assert.equal((await waiting)?.hasUnexpectedFunds, true);
});

test("a payment changes its account once, and only while it has no intent", async () => {
  const change = (id: string) =>
    db.transaction((tx) => changeAccount(tx, id, "mco_test", { ...account, offered: ["card"] }));
  const { id: fresh } = await newPayment();
  assert.deepEqual([await change(fresh), await change(fresh)], [true, false]);
  const { id: known } = await newPayment();
  await record(known, "pi_1");
  assert.equal(await change(known), false);
  assert.equal(await change(await paidPayment()), false);
});

test("a payment keeps its first intent", async () => {
  const { id } = await newPayment();
  for (const ref of [`pi_first_${id}`, `pi_second_${id}`]) await record(id, ref);
  assert.equal((await findPayment(db, id))?.connectorRef, `pi_first_${id}`);
});

test("a payment is visible from its first attempt, to its merchant in its environment only", async () => {
  const { id } = await newPayment();
  assert.equal(await findRecord(db, owner, id), undefined);
  await showPayment(db, id);
  assert.equal((await findRecord(db, owner, id))?.id, id);
  assert.equal(await findRecord(db, { ...owner, environment: Environment.LIVE }, id), undefined);
  assert.equal(await findRecord(db, { ...owner, merchantId: "mer_other" }, id), undefined);
  // The first is read alone, the others in one statement.
  const others = [owner, { ...owner, environment: Environment.LIVE }, owner, { ...owner, merchantId: "mer_other" }];
  const found = await Promise.all(others.map((other) => findRecord(db, other, id)));
  assert.deepEqual(
    found.map((record) => record?.id),
    [id, undefined, id, undefined],
  );
});

test("a claimed operation is not claimed again, also before the claim commits", async () => {
  const { operationId } = await newPayment();
  await db.transaction(async (tx) => {
    assert.deepEqual(
      (await claimOperations(tx, pauses, 10)).map(({ id }) => id),
      [operationId],
    );
    assert.deepEqual(await claimOperations(db, pauses, 10), [], "skipped without waiting");
  });
  assert.deepEqual(await claimOperations(db, pauses, 10), [], "not due");
});

test("an operation is parked once after its last try; done and parked operations are not claimed", async () => {
  const { id, operationId } = await newPayment();
  const due = () => db.rows("update operations set next_try_at = now() where id = $1", [operationId]);
  const claim = async () => (await claimOperations(db, pauses, 10)).map(({ state }) => state);
  const states = [await claim()];
  for (let tries = 0; tries < pauses.length; tries++) {
    await due();
    states.push(await claim());
  }
  assert.deepEqual(states, [["started"], ["started"], ["parked"]]);
  await due();
  assert.deepEqual(await claim(), []);
  assert.deepEqual(
    (await historyOf(db, operationId)).map(({ fact }) => fact),
    ["parked"],
  );
  assert.equal(await countParked(db), 1n);
  assert.deepEqual(
    (await parkedOperations(db, "", 10)).map((one) => one.id),
    [operationId],
  );
  assert.deepEqual(await parkedOperations(db, operationId, 10), [], "the next page starts after it");
  const move = () => db.transaction((tx) => unparkOperation(tx, operationId, "started"));
  assert.deepEqual([await move(), await move()], [true, false], "only a parked operation moves");
  await closeOperation(db, "create_intent", id);
  await due();
  assert.deepEqual(await claim(), []);
});

test("an operation that another worker has taken over no longer counts as untouched", async () => {
  const untouched = (id: string) => db.transaction((tx) => lockUntouched(tx, id));
  const { id, operationId } = await newPayment();
  assert.equal(await untouched(operationId), true);
  await recordTakeOver(db, "create_intent", id);
  assert.equal(await untouched(operationId), false);
  const claimed = await newPayment();
  await claimOperations(db, pauses, 10);
  for (let i = 0; i < 2; i++) await deferOperation(db, claimed.operationId, 60);
  assert.equal(await untouched(claimed.operationId), false, "also when its tries were deferred");
});

test("the check for an untouched operation locks it", async () => {
  const { id, operationId } = await newPayment();
  let takeOver: Promise<void> = Promise.resolve();
  await db.transaction(async (tx) => {
    assert.equal(await lockUntouched(tx, operationId), true);
    takeOver = recordTakeOver(db, "create_intent", id);
    await eventually("the other worker to wait", isWaiting);
  });
  await takeOver;
});

test("a due payment is claimed by one worker, and deferring does not schedule an unscheduled one", async () => {
  const { id } = await newPayment();
  await db.transaction(async (tx) => {
    assert.deepEqual(await claimChecks(tx, pauses, 600, 10), [id]);
    assert.deepEqual(await claimChecks(db, pauses, 600, 10), [], "skipped without waiting");
  });
  assert.deepEqual(await claimChecks(db, pauses, 600, 10), [], "not due");
  const listed = async () => (await findPayment(db, id))?.scheduled;
  await deferCheck(db, id, 60);
  assert.equal(await listed(), true);
  await db.rows("update payments set next_check_at = null where id = $1", [id]);
  await deferCheck(db, id, 0);
  assert.equal(await listed(), false);
});

test("an attempt in progress is checked often on its first day, and then by the schedule, since a debit takes days", async () => {
  const begun = async (days: number) => {
    const { id } = await newPayment();
    await db.rows(
      `update payments set outcome = 'processing', status = 'processing', visible = true, next_check_at = now(), checks = 9,
         last_attempt_at = now() - make_interval(days => $2) where id = $1`,
      [id, days],
    );
    return id;
  };
  const [fresh, old] = [await begun(0), await begun(3)];
  await claimChecks(db, [60, 86_400], 600, 10);
  const rows = await db.rows<{ id: string; wait: number }>(
    "select id, round(extract(epoch from next_check_at - now()) / 100)::int * 100 as wait from payments where id = any($1)",
    [[fresh, old]],
  );
  assert.deepEqual(
    new Map(rows.map(({ id, wait }) => [id, wait])),
    new Map([
      [fresh, 600],
      [old, 86_400],
    ]),
  );
});

test("a processor's event is recorded once", async () => {
  const event = { connector: "simulator", id: "evt_1", type: "x", paymentId: undefined, note: "" };
  assert.equal(await isKnownEvent(db, "simulator", "evt_1"), false);
  assert.deepEqual([await insertProcessorEvent(db, event), await insertProcessorEvent(db, event)], [true, false]);
  assert.equal(await isKnownEvent(db, "simulator", "evt_1"), true);
  assert.equal(await isKnownEvent(db, "stripe", "evt_1"), false, "each processor has its own ids");
});

test("an event's note is cut at 500 units, and concurrent events are stored once each", async () => {
  const event = { connector: "simulator", type: "t", paymentId: undefined, note: `${"x".repeat(499)}\u{1f600}` };
  const ids = Array.from({ length: 6 }, () => newId("event"));
  const fresh = await Promise.all([...ids, ...ids].map((id) => insertProcessorEvent(db, { ...event, id })));
  assert.equal(fresh.filter(Boolean).length, ids.length);
  const rows = await db.rows<{ note: string }>("select note from processor_events where event_id = any($1)", [ids]);
  assert.deepEqual(
    rows.map(({ note }) => note),
    ids.map(() => `${"x".repeat(499)}\ufffd`),
  );
});

test.run();
