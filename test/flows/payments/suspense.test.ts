// What nobody asked for, against a real PostgreSQL: it is held once, goes when it went back, comes again when that
// failed, and stays ended when a person ended it.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { type Settled, settlePayment } from "../../../services/payments/flows/settle-payment.ts";
import { holdLostIntent } from "../../../services/payments/flows/suspense/hold-suspense.ts";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { findPayment, recordNotFound } from "../../../services/payments/store/payments.ts";
import { closeSuspense, suspenseOf } from "../../../services/payments/store/suspense.ts";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("what nobody asked for");
const deps = { outbox: new Outbox({ namespace: "test", source: "payments" }), reconcileAfterSeconds: 30 };
let db: Database;

test.before(async () => {
  const database = await freshDatabase("payments");
  db = await Database.open({ url: database.url, name: "test", log: createLog("test", "warn") });
});
test.after(() => db.close());

const at = new Date("2026-01-01T12:00:00Z");

function captured(amount: bigint): IntentFact {
  const attempt = { ref: "at_1", startedAt: at, card: undefined, verification: undefined };
  const times = { authorizedAt: at, capturedAt: at };
  return {
    kind: "attempt_succeeded",
    attempt,
    capturedAmount: amount,
    ...times,
    authorizationCode: "",
    receiptUrl: "",
  };
}

function refund(ref: string, status: RefundReport["status"]): RefundReport {
  const text = { reference: "", reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref, status, amount: 1_000n, createdAt: at };
}

interface Story {
  readonly id: Id<"payment">;
  /** What the processor says of an intent with our reference. */
  says(ref: string, change?: Partial<IntentReport>): Promise<Settled>;
  /** State and resolution of the second charge on the intent, and the suspense account's balance. */
  held(ref: string): Promise<readonly [state: string, resolution: string, balance: number]>;
}

/** A payment that is paid by its own intent. */
async function paidPayment(): Promise<Story> {
  const id = newId("payment");
  const story = await untouched(id);
  await story.says(`pi_${id}`);
  return story;
}

/** A payment of which nothing was heard yet. */
async function untouched(id: Id<"payment">): Promise<Story> {
  const what = {
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
  };
  const where = {
    connector: "simulator",
    connectorAccountId: "mco_test",
    surface: "embedded",
    captureMethod: "automatic" as const,
  };
  const owner = { merchantId: "mer_test", environment: Environment.SANDBOX, sessionId: newId("session") };
  const payment = { ...owner, ...what, ...where, id, expiresAt: new Date(Date.now() + 3_600_000) };
  const operation = { id: newId("operation"), sentAfter: undefined, sealedOrder: undefined, state: "started" } as const;
  await insertPayments(db, [{ payment, operation, operationSeconds: 30, checkSeconds: 120 }]);
  return {
    id,
    says: (ref, change = {}) => {
      const paid = { amount: 1_000n, currency: "EUR", facts: [captured(1_000n)], refunds: [], disputes: [] };
      const report = { ref, reference: id, ...paid, ...change };
      return db.transaction((tx) => settlePayment(tx, deps, id, report, "processor"));
    },
    held: async (ref) => {
      const item = await suspenseOf(db, "simulator", ref, "second_charge");
      const [row] = await db.rows<{ balance: string }>(
        `select coalesce(sum(case when credit = 'suspense' then amount when debit = 'suspense' then -amount end), 0) as balance
         from journal where payment_id = $1`,
        [id],
      );
      return [item?.state ?? "none", item?.resolution ?? "", Number(row?.balance)];
    },
  };
}

test("a second charge is held once, however often it is reported, and one on which nothing was paid is none", async () => {
  const { id, says, held } = await paidPayment();
  const second = `pi_second_${id}`;
  assert.deepEqual((await says(second, { facts: [] })).held, []);
  assert.deepEqual(await held(second), ["none", "", 0]);
  assert.deepEqual((await says(second)).held, ["second_charge"]);
  assert.deepEqual((await says(second)).held, []);
  assert.deepEqual(await held(second), ["open", "", 1_000]);
});

test("a second charge that went back is ended, and open again when its refund failed afterwards", async () => {
  const { id, says, held } = await paidPayment();
  const second = `pi_second_${id}`;
  await says(second);
  await says(second, { refunds: [refund(`rf_${id}`, "succeeded")] });
  assert.deepEqual(await held(second), ["closed", "given_back", 0]);
  await says(second, { refunds: [refund(`rf_${id}`, "failed")] });
  assert.deepEqual(await held(second), ["open", "", 1_000]);
});

test("what a person ended is not held again, whatever the processor says of it", async () => {
  const { id, says, held } = await paidPayment();
  const second = `pi_second_${id}`;
  await says(second);
  const item = await suspenseOf(db, "simulator", second, "second_charge");
  assert(item);
  const end = { resolution: "taken", operator: "ann", note: "a second order" } as const;
  assert.equal(await db.transaction((tx) => closeSuspense(tx, item.id, end)), true);
  const before = await held(second);
  const { held: news, ignored } = await says(second, { refunds: [refund(`rf_${id}`, "succeeded")] });
  assert.deepEqual(news, []);
  assert.ok(
    ignored.some((reason) => reason.includes("was taken")),
    ignored.join("; "),
  );
  assert.deepEqual(await held(second), before);
});

test("an intent that differs and was missing is not lost once the processor tells of it, and its absence is counted anew", async () => {
  const id = newId("payment");
  const { says } = await untouched(id);
  await says(`pi_${id}`, { amount: 900n, facts: [captured(900n)] });
  const day = 86_400_000;
  await db.rows("update payments set connector_ref = $2 where id = $1", [id, `pi_${id}`]);
  await recordNotFound(db, id, at);
  const missing = await findPayment(db, id);
  assert(missing);
  assert.equal(await db.transaction((tx) => holdLostIntent(tx, missing)), true);
  await says(`pi_${id}`, { amount: 900n, facts: [captured(900n)] });
  const item = await suspenseOf(db, "simulator", `pi_${id}`, "lost_intent");
  assert.deepEqual([item?.state, item?.resolution], ["closed", "found"]);
  const again = new Date(at.getTime() + 2 * day);
  assert.deepEqual(
    await recordNotFound(db, id, again),
    again,
    "two moments are no proof that it was away between them",
  );
});

test("an intent that turned out right is held no longer, and is asked about once more: reports overtake each other", async () => {
  const id = newId("payment");
  const { says } = await untouched(id);
  assert.equal((await says(`pi_${id}`, { amount: 900n })).mismatch, "amount");
  const { payment, mismatch } = await says(`pi_${id}`);
  assert.deepEqual([payment.status, mismatch], ["succeeded", undefined]);
  const item = await suspenseOf(db, "simulator", `pi_${id}`, "other_amount");
  assert.deepEqual([item?.state, item?.resolution, item?.amount], ["closed", "found", 0n]);
  const [row] = await db.rows<{ held: string; is_due: boolean }>(
    `select next_check_at <= now() as is_due, (select sum(case credit when 'suspense' then amount else -amount end)
       from journal where payment_id = p.id and 'suspense' in (debit, credit)) as held
     from payments p where id = $1`,
    [id],
  );
  assert.deepEqual(row, { held: "0", is_due: true });
});

test("a second refund in the name of one of ours is an alert once; one that failed has taken nothing", async () => {
  const { id, says } = await paidPayment();
  const own = `pi_${id}`;
  const of = (ref: string, status: RefundReport["status"], reference = "") =>
    ({ ...refund(ref, status), amount: 300n, reference }) satisfies RefundReport;
  const first = of(`rf_1_${id}`, "succeeded");
  await says(own, { refunds: [first] });
  const [known] = await db.rows<{ id: string }>("select id from refunds where payment_id = $1", [id]);
  const second = (status: RefundReport["status"]) => ({ refunds: [first, of(`rf_2_${id}`, status, known?.id)] });
  const item = async () => {
    const held = await suspenseOf(db, "simulator", `rf_2_${id}`, "second_refund");
    return [held?.state, held?.resolution, held?.amount, held?.returned];
  };
  assert.deepEqual((await says(own, second("succeeded"))).held, ["second_refund"]);
  assert.deepEqual((await says(own, second("succeeded"))).held, []);
  assert.deepEqual(await item(), ["open", "", 300n, 0n]);
  await says(own, second("failed"));
  assert.deepEqual(await item(), ["closed", "given_back", 300n, 300n]);
});

test.run();
