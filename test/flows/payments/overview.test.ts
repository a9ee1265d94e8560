// The overview of a merchant's last days, at its store: it equals the sums of payments and refunds, folded or not and
// during writes, and reads no payment.
import assert from "node:assert/strict";
import type { Sql } from "#platform/database/database.ts";
import { foldListCounts } from "#platform/lists/list-counts.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { auditMoneyDays, type MoneyDifference } from "../../../services/payments/audit/money-days.ts";
import { bucketStarts } from "../../../services/payments/lists/counted-ranges.ts";
import { readInstallationOverview } from "../../../services/payments/lists/installation.ts";
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
  await foldListCounts(db, bucketStarts);
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
    assert.deepEqual([...tables].sort(), ["list_counts", "list_deltas", "money_days", "money_deltas"]);
    const all = { environment: owner.environment, days, currency: "EUR" };
    await readInstallationOverview({ snapshot: (read) => read({ rows }) }, all);
  });
  assert.deepEqual([...tables].sort(), ["disputes", "list_counts", "list_deltas", "money_days", "money_deltas"]);
});

/** The definition of the installation's figures over all rows. */
const figuresText = `
  with bounds as (select ((now() at time zone 'UTC')::date - $3::int + 1) as first),
  cells as (
    select merchant_id, connector, captured_at as at, 1 as c, captured_amount as ca, 0 as r, 0 as ra, 0 as p, 0 as u, 0 as d, 0 as da
      from payments where environment = $1 and currency = $2 and visible and captured_amount > 0
    union all
    select r.merchant_id, p.connector, r.created_at, 0, 0, 1, r.amount, 0, 0, 0, 0 from refunds r join payments p on p.id = r.payment_id
      where r.environment = $1 and r.currency = $2 and r.status in ('pending', 'succeeded')
    union all
    select merchant_id, connector, created_at, 0, 0, 0, 0, (outcome = 'succeeded')::int, (outcome in ('failed', 'canceled'))::int, 0, 0
      from payments where environment = $1 and currency = $2 and visible
    union all
    select merchant_id, connector, opened_at, 0, 0, 0, 0, 0, 0, 1, amount from disputes
      where environment = $1 and currency = $2 and status not in ('warning_needs_response', 'warning_under_review', 'warning_closed'))
  select sum(c)::text as "capturedCount", sum(ca)::text as "capturedAmount", sum(r)::text as "refundCount", sum(ra)::text as "refundedAmount",
    sum(p)::text as "paidCount", sum(u)::text as "unpaidCount", sum(d)::text as "disputeCount", sum(da)::text as "disputedAmount"
  from cells, bounds where (at at time zone 'UTC')::date >= first`;

async function assertInstallation(days: number): Promise<void> {
  await db.snapshot(async (sql) => {
    const scope = { environment: owner.environment, days, currency: "" };
    const found = await readInstallationOverview({ snapshot: (read) => read(sql) }, scope);
    const asText = (figures: object) =>
      Object.fromEntries(Object.entries(figures).map(([name, n]) => [name, String(n)]));
    const wanted = async (condition: string, ...values: string[]) =>
      (await sql.rows(`${figuresText} ${condition}`, [owner.environment, found.currency, days, ...values]))[0];
    assert.deepEqual(asText(found.total), await wanted(""));
    // In the first minutes of a day, today alone may have no payment.
    if (days > 1) assert.ok(found.currencies.length > 1 && found.merchants.length >= 2);
    for (const { merchantId, figures } of found.merchants) {
      assert.deepEqual(asText(figures), await wanted("and merchant_id = $4", merchantId), merchantId);
    }
    for (const { connector, figures } of found.connectors) {
      const own = await wanted("and connector = $4", connector);
      const uncounted = { capturedCount: "0", capturedAmount: "0", refundCount: "0", refundedAmount: "0" };
      assert.deepEqual(asText(figures), Object.assign({}, own, uncounted), connector);
    }
    const volumes = found.merchants.map(({ figures }) => figures.capturedAmount);
    assert.deepEqual(
      volumes,
      volumes.toSorted((a, b) => Number(b - a)),
      "the largest first",
    );
  });
}

test("the installation's figures equal the rows, in all, by merchant and by processor, folded or not", async () => {
  await insertPaymentRows(pool, { merchantId: "mer_c", count: 50, days: 3, until: new Date(), batch: 40 });
  await pool.query(
    `insert into disputes (id, payment_id, connector, connector_ref, reason, status, amount, opened_at)
     select 'dp_' || substr(id, 5), id, connector, 'dsp_' || id, 'fraudulent',
       case when row_number() over () % 3 = 0 then 'warning_needs_response' else 'needs_response' end, 5, created_at
     from (select * from payments where captured_amount > 0 order by id desc limit 40) p`,
  );
  for (const days of [1, 7, 30]) await assertInstallation(days);
  while (await foldMoneyDays(db));
  await foldListCounts(db, bucketStarts);
  for (const days of [1, 7, 30]) await assertInstallation(days);
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
