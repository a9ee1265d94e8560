// ListUpdatedPayments: windows of the past by the time of a payment's last change.
import assert from "node:assert/strict";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { openDatabase, testPool } from "../../harness/database.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { insertPaymentRows } from "../../harness/payments/payment-rows.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("updated payments", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));

const hourMs = 3_600_000;
const window = (fromMs: number, toMs: number) => ({
  ...money.owner,
  updatedFrom: timestampFromMs(fromMs),
  updatedTo: timestampFromMs(toMs),
});

async function updatedAt(paymentId: string): Promise<number> {
  const { payment } = await services.payments.getPayment({ ...money.owner, paymentId });
  return payment?.updatedAt ? timestampMs(payment.updatedAt) : 0;
}

test("a capture, a refund and a buyer's e-mail move the time of a payment's last change, a check of the processor does not", async () => {
  const paymentId = await money.paid();
  const paidAt = await updatedAt(paymentId);
  assert(paidAt > Date.now() - hourMs);
  // The processor's own report may come meanwhile.
  await db.transaction(async (tx) => {
    const read = "select updated_at from payments where id = $1 for update";
    const before = await tx.rows(read, [paymentId]);
    await tx.rows("update payments set next_check_at = now(), checks = checks + 1 where id = $1", [paymentId]);
    assert.deepEqual(await tx.rows(read, [paymentId]), before);
  });
  await services.payments.refundPayment({ ...money.owner, paymentId, amount: 100n });
  const refundedAt = await updatedAt(paymentId);
  assert(refundedAt > paidAt);
  await services.payments.noteCustomerEmail({ paymentId, customerEmail: "new@shop.test", turn: 9 });
  assert((await updatedAt(paymentId)) > refundedAt);
});

test("pages through a window list each payment once in the order of its change, and the next window begins where it ended", async () => {
  const merchantId = newId("merchant");
  const now = Date.now();
  const pool = testPool(services.paymentsDatabaseUrl, 1);
  await insertPaymentRows(pool, { merchantId, count: 6, days: 1, until: new Date(now), batch: 1 });
  await pool.end();
  const made = await db.rows<{ id: string }>("select id from payments where merchant_id = $1 order by id", [
    merchantId,
  ]);
  const ids = made.map(({ id }) => id);
  // Two have one time; one is at the window's end, one unchanged since the migration.
  const agoMs = [50, 50, 40, 30, 20].map((minutes) => minutes * 60_000);
  for (const [i, id] of ids.entries()) {
    const ago = agoMs[i];
    const at = ago === undefined ? null : new Date(now - ago).toISOString();
    await db.rows("update payments set updated_at = $2::timestamptz + interval '7 microseconds' where id = $1", [
      id,
      at,
    ]);
  }
  const read = async (fromMs: number, toMs: number) => {
    const listed: string[] = [];
    for (let pageToken = ""; ; ) {
      const answer = await services.payments.listUpdatedPayments({
        ...{ ...window(fromMs, toMs), merchantId },
        ...{ pageSize: 1, pageToken },
      });
      listed.push(...answer.payments.map(({ id }) => id));
      pageToken = answer.nextPageToken;
      if (pageToken === "") return listed;
    }
  };
  const end = now - (agoMs[3] ?? 0);
  const first = await read(now - hourMs, end);
  assert.deepEqual(first, ids.slice(0, 3));
  assert.deepEqual(await read(end, now - 61_000), [ids[3], ids[4]]);
  const other = { ...window(now - hourMs, end), merchantId: newId("merchant") };
  assert.deepEqual((await services.payments.listUpdatedPayments(other)).payments, []);
});

test("the index by the last change gives a page in its order", async () => {
  const plan = await db.transaction(async (tx) => {
    await tx.rows("set local enable_seqscan = off");
    return await tx.rows(
      `explain select id from payments t where merchant_id = 'm' and environment = 1 and visible
         and updated_at >= '2026-01-01' and (updated_at > '2026-01-01' or id > 'p') and updated_at < '2026-02-01'
       order by updated_at, id limit 9`,
    );
  });
  assert.match(JSON.stringify(plan), /Index (Only )?Scan using payments_by_update/);
  assert.doesNotMatch(JSON.stringify(plan), /Sort/);
});

test("refuses a window that is not over for a minute, ends before it begins, or continues elsewhere", async () => {
  const now = Date.now();
  const past = window(now - hourMs, now - hourMs / 2);
  const wrong = [
    ["updated_to", window(now - hourMs, now - 50_000)],
    ["updated_from", window(now - hourMs / 2, now - hourMs)],
    ["page_token", { ...past, pageToken: "x" }],
    ["merchant_id", { ...past, merchantId: "mer_x" }],
  ] as const;
  for (const [field, request] of wrong) {
    const isNamed = ({ violations }: Failure) => violations[0]?.field === field;
    await assert.rejects(services.payments.listUpdatedPayments(request), isNamed, field);
  }
});

test.run();
