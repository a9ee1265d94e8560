// Settlement on a real PostgreSQL: the books after late, repeated and concurrent reports.
import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { Outbox } from "#platform/events/outbox.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { settlePayment, settleRefund } from "../../../services/payments/flows/settle-payment.ts";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { appendMovements } from "../../../services/payments/store/journal.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { findRecord } from "../../../services/payments/store/payment-records.ts";
import { findPayment, lockPayment, savePayment } from "../../../services/payments/store/payments.ts";
import { insertRefund } from "../../../services/payments/store/refunds/refunds.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("settling payments");
const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };
const deps = { outbox: new Outbox({ namespace: "test", source: "payments" }), reconcileAfterSeconds: 30 };

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));

async function newPayment(): Promise<Id<"payment">> {
  const wanted = paymentInsert({}, 120);
  assert.deepEqual(await insertPayments(db, [wanted]), [true]);
  return wanted.payment.id;
}

const startedAt = new Date("2026-01-01T12:00:00Z");
const paidAt = new Date("2026-01-01T12:00:01Z");

function paid(attemptRef = "at_1", capturedAmount = 1_000n): IntentFact {
  const card = { brand: "visa", last4: "4242", funding: "credit", fingerprint: "fp", expMonth: 1, expYear: 2030 };
  const attempt = { ref: attemptRef, startedAt, card, verification: undefined };
  return {
    kind: "attempt_succeeded",
    attempt,
    capturedAmount,
    authorizedAt: paidAt,
    capturedAt: paidAt,
    authorizationCode: "A1",
    receiptUrl: "https://receipt.example",
  };
}

function report(id: string, change: Partial<IntentReport> = {}): IntentReport {
  const ref = `pi_${id}`;
  return { ref, reference: id, amount: 1_000n, currency: "EUR", facts: [paid()], refunds: [], disputes: [], ...change };
}

function refundReport(change: Partial<RefundReport> & { ref: string; amount: bigint }): RefundReport {
  return {
    reference: "",
    status: "succeeded",
    reason: "",
    failureCode: "",
    failureMessage: "",
    createdAt: new Date(),
    ...change,
  };
}

function settle(id: string, intentReport: IntentReport, path: "confirm" | "processor" | "reconcile" = "confirm") {
  return db.transaction((tx) => settlePayment(tx, deps, id, intentReport, path));
}

async function announced(id: string): Promise<string[]> {
  const rows = await db.rows<{ subject: string }>(
    `select subject from outbox where position($1::bytea in body) > 0 order by seq`,
    [Buffer.from(id)],
  );
  return rows.map((row) => row.subject.replace("test.events.payments.", ""));
}

async function posted(id: string): Promise<string[]> {
  const rows = await db.rows<{ line: string }>(
    `select kind || ' ' || amount as line from journal where payment_id = $1 order by id`,
    [id],
  );
  return rows.map((row) => row.line);
}

test("twenty confirms and twenty webhooks at once book one payment and announce it once per path", async () => {
  const id = await newPayment();
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => settle(id, report(id), i % 2 === 0 ? "confirm" : "processor")),
  );
  const record = await findRecord(db, owner, id);
  assert.equal(record?.status, "succeeded");
  assert.equal(record?.netAmount, 941n);
  assert.deepEqual(await posted(id), ["captured 1000", "fee_charged 59"]);
  assert.deepEqual(await announced(id), ["payment.succeeded", "payment.succeeded"]);
});

test("the first report stores the intent's id, also without other changes", async () => {
  const id = await newPayment();
  await settle(id, report(id, { facts: [] }), "reconcile");
  const [row] = await db.rows<{ ref: string }>("select connector_ref as ref from payments where id = $1", [id]);
  assert.equal(row?.ref, `pi_${id}`);
});

test("an intent with another amount, currency or reference settles nothing; its money is held in suspense", async () => {
  const id = await newPayment();
  for (const wrong of [{ amount: 999n }, { currency: "USD" }, { reference: newId("payment") }]) {
    const { mismatch } = await settle(id, report(id, wrong));
    assert.equal(mismatch, Object.keys(wrong)[0]);
  }
  assert.equal(await findRecord(db, owner, id), undefined, "not visible");
  assert.deepEqual(await posted(id), ["suspense_held 1000"]);
});

test("a dashboard refund that did not fit is applied after a refund of ours has failed", async () => {
  const id = await newPayment();
  await settle(id, report(id));
  const ours = await reserved(id, 900n);
  const intentReport = report(id, { refunds: [refundReport({ ref: "rf_late", amount: 500n })] });
  await settle(id, intentReport, "processor");
  assert.equal((await findRecord(db, owner, id))?.refundedAmount, 900n);
  const unsent = refundReport({ reference: ours, ref: "", amount: 900n, status: "failed" });
  await db.transaction((tx) => settleRefund(tx, deps, id, unsent));
  assert.equal(await nextCheckIn(id), true, "a check is scheduled");
  const before = await versionOf(id);
  await settle(id, intentReport, "processor");
  assert.equal((await findRecord(db, owner, id))?.refundedAmount, 500n);
  for (const old of [undefined, before]) await reconcile(id, report(id), old);
  assert.equal(await nextCheckIn(id), true, "an older report proves nothing");
  await reconcile(id, intentReport, await versionOf(id));
  assert.equal(await nextCheckIn(id), false);
});

/** The answer to a check that began at that version of the payment. */
function reconcile(id: string, intentReport: IntentReport, version: number | undefined) {
  return db.transaction((tx) => settlePayment(tx, deps, id, intentReport, "reconcile", version));
}

async function versionOf(id: string): Promise<number> {
  return (await findPayment(db, id))?.version ?? assert.fail();
}

/** A refund of ours without an answer. */
async function reserved(paymentId: string, amount: bigint): Promise<string> {
  const id = newId("refund");
  await db.transaction(async (tx) => {
    const locked = await lockPayment(tx, paymentId);
    assert.ok(locked);
    const { payment } = locked;
    const state = { ...payment.state, refundedAmount: payment.state.refundedAmount + amount };
    const { connectorRef, merchantId, environment, currency, connector } = payment;
    await savePayment(tx, { id: paymentId, connectorRef, state, checkAfterSeconds: 30 }, []);
    await appendMovements(tx, payment, [{ kind: "refund_reserved", cause: id, amount }]);
    const refund = {
      ...refundReport({ ref: "", amount, status: "pending" }),
      merchantId,
      environment,
      currency,
      connector,
    };
    await insertRefund(tx, { ...refund, id, paymentId, connectorRef: "", acknowledged: false, unasked: false });
  });
  return id;
}

async function nextCheckIn(id: string): Promise<boolean> {
  const [row] = await db.rows<{ due: boolean }>(`select next_check_at is not null as due from payments where id = $1`, [
    id,
  ]);
  return row?.due ?? false;
}

test("each change of a payment increments the version that its events carry", async () => {
  const id = await newPayment();
  await settle(id, report(id));
  await settle(id, report(id), "processor");
  const rows = await db.rows<{ body: Buffer }>(
    `select body from outbox where subject like '%payment.succeeded' order by seq`,
  );
  const versions = rows
    .map(({ body }) => fromBinary(EventSchema, body))
    .filter(({ objectId }) => objectId === id)
    .map(({ attributes }) => Number(attributes.version));
  const [row] = await db.rows<{ version: string }>(`select version from payments where id = $1`, [id]);
  assert.deepEqual(versions, [Number(row?.version) - 1, Number(row?.version)]);
});

test("the database refuses a refunded amount that differs from the refunds, and any change of the journal", async () => {
  const id = await newPayment();
  await settle(id, report(id));
  await assert.rejects(
    db.transaction((tx) =>
      tx.rows(
        `insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector)
         values ($1, $2, 'm', 1, 'EUR', 5, 'pending', 'simulator')`,
        [newId("refund"), id],
      ),
    ),
    /differs from its refunds/,
  );
  await assert.rejects(db.rows(`update payments set refunded_amount = 1001 where id = $1`, [id]), /check/);
  await assert.rejects(db.rows(`update journal set amount = 1 where payment_id = $1`, [id]), /append-only/);
  await assert.rejects(db.rows(`delete from journal where payment_id = $1`, [id]), /append-only/);
  await assert.rejects(db.rows(`truncate journal`), /append-only/);
});

test.run();
