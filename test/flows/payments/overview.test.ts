// The overview of a merchant's last days, at its store: it equals the sums of payments and refunds, folded or not and
// during writes, and reads no payment.
import assert from "node:assert/strict";
import type { Sql } from "#platform/database/database.ts";
import { foldListCounts } from "#platform/lists/list-counts.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { auditMoneyDays, type MoneyDifference } from "../../../services/payments/audit/money-days.ts";
import { type OverviewDay, readOverview } from "../../../services/payments/lists/overview.ts";
import { foldMoneyDays } from "../../../services/payments/store/money-days.ts";
import { freshDatabase, openDatabase, testPool } from "../../harness/database.ts";
import { insertPaymentRows } from "../../harness/payments/payment-rows.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("overview of payments", { timeoutMs: 120_000 });
const owner = { merchantId: "mer_a", environment: Environment.SANDBOX };
const days = 30;

const database = fixture(test, () => freshDatabase("payments"));
const db = fixture(test, () => openDatabase(database.url));
const pool = fixture(test, () => testPool(database.url, 4));
test.before(async () => {
  await insertPaymentRows(pool, { merchantId: "mer_a", count: 3_000, days: 40, until: new Date(), batch: 1 });
  await insertPaymentRows(pool, { merchantId: "mer_b", count: 300, days: 40, until: new Date(), batch: 1 });
});

/** The definition, over all rows. */
const plainText = `
  with bounds as (select (now() at time zone 'UTC')::date - 29 as first),
  cells as (
    select captured_at as at, currency, 1 as captured_count, captured_amount, 0 as refund_count, 0 as refunded_amount, 0 as paid, 0 as unpaid
      from payments where merchant_id = $1 and environment = $2 and visible and captured_amount > 0
    union all
    select created_at, currency, 0, 0, 1, amount, 0, 0
      from refunds where merchant_id = $1 and environment = $2 and status in ('pending', 'succeeded')
    union all
    select created_at, currency, 0, 0, 0, 0, (outcome = 'succeeded')::int, (outcome in ('failed', 'canceled'))::int
      from payments where merchant_id = $1 and environment = $2 and visible and outcome in ('succeeded', 'failed', 'canceled'))
  select (at at time zone 'UTC')::date::text as day, currency, sum(captured_count) as "capturedCount", sum(captured_amount) as "capturedAmount",
    sum(refund_count) as "refundCount", sum(refunded_amount) as "refundedAmount", sum(paid) as "paidCount", sum(unpaid) as "unpaidCount"
  from cells, bounds where (at at time zone 'UTC')::date >= first group by 1, 2 order by 1, 2`;

/** Both sides in one snapshot. */
async function assertAsDefined(): Promise<readonly OverviewDay[]> {
  return await db.snapshot(async (sql) => {
    const found = await readOverview({ snapshot: (read) => read(sql) }, owner, days);
    const rows = await sql.rows<Record<string, string>>(plainText, [owner.merchantId, owner.environment]);
    const wanted = rows.map((row) => JSON.stringify(row));
    const texts = found.days.map((day) =>
      JSON.stringify(day, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    );
    assert.deepEqual(texts, wanted);
    return found.days;
  });
}

test("volume, refunds and success by day equal the rows, before and after folding", async () => {
  const before = await assertAsDefined();
  assert.ok(before.length > 30, "some days in several currencies");
  while (await foldMoneyDays(db, 500)) await assertAsDefined();
  await foldListCounts(db);
  await assertAsDefined();
});

test("a later change of amount or time moves the counted money to the right day", async () => {
  const some =
    "select id from payments where merchant_id = 'mer_a' and captured_amount > 100 and refunded_amount = 0 and status = 'succeeded'";
  await pool.query(
    `update payments set captured_amount = captured_amount - 7 where id in (${some} order by id limit 40)`,
  );
  await pool.query(
    `update payments set captured_at = captured_at - interval '1 day' where id in (${some} order by id limit 40)`,
  );
  await pool.query(`update payments set captured_at = null, captured_amount = 0, outcome = 'failed'
    where id in (${some} order by id desc limit 40)`);
  await assertAsDefined();
  while (await foldMoneyDays(db));
  await assertAsDefined();
});

test("the overview is exact while payments are inserted and changes are folded", async () => {
  let isOver = false;
  const folding = (async () => {
    while (!isOver) await foldMoneyDays(db, 50);
  })();
  const writing = (async () => {
    for (let batch = 10; batch < 30; batch++) {
      await insertPaymentRows(pool, { merchantId: "mer_a", count: 20, days: 3, until: new Date(), batch });
    }
  })();
  for (let i = 0; i < 20; i++) await assertAsDefined();
  await writing;
  isOver = true;
  await folding;
  await assertAsDefined();
});

test("the overview reads no payment or refund, so its time does not grow with them", async () => {
  const tables = new Set<string>();
  await db.snapshot(async (sql) => {
    const rows: Sql["rows"] = async (text, params) => {
      const plan = JSON.stringify(await sql.rows(`explain (format json) ${text}`, params));
      for (const [, name = ""] of plan.matchAll(/"Relation Name":"(\w+)"/g)) tables.add(name);
      return await sql.rows(text, params);
    };
    const { days: found } = await readOverview({ snapshot: (read) => read({ rows }) }, owner, days);
    assert.ok(found.length > 0);
  });
  assert.deepEqual([...tables].sort(), ["list_counts", "list_deltas", "money_days", "money_deltas"]);
});

test("the auditor finds a wrong day and nothing else", async () => {
  const audit = async () => {
    const found: MoneyDifference[] = [];
    assert.ok((await auditMoneyDays(db, (one) => found.push(one))) > 0);
    return found;
  };
  assert.deepEqual(await audit(), []);
  await foldMoneyDays(db);
  await pool.query(`update money_days set amount = amount + 1 where (merchant_id, kind, day, currency) = (
    select merchant_id, kind, day, currency from money_days where merchant_id = 'mer_b' and kind = 'captured' order by day, currency limit 1)`);
  const [one, ...others] = await audit();
  assert.deepEqual([one?.merchantId, one?.kind, others], ["mer_b", "captured", []]);
});

test.run();
