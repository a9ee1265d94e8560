// Lists of payments, refunds and sessions at their stores: every total equals a count of the rows in the same snapshot,
// during writes and folds, and pages equal the whole list.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database, Sql } from "#platform/database/database.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { type PageWindow, readPage } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { foldListCounts } from "#platform/lists/list-counts.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { buildNarrowing } from "../../../services/payments/lists/conditions.ts";
import { bucketStarts } from "../../../services/payments/lists/counted-ranges.ts";
import { listPayments, type PaymentFilters } from "../../../services/payments/lists/payments.ts";
import { listChosenRefunds, listRefundRecords } from "../../../services/payments/lists/refunds.ts";
import { searchPayments } from "../../../services/payments/lists/search.ts";
import { countByAmount } from "../../../services/payments/lists/totals.ts";
import { freshDatabase, openDatabase, testPool } from "../../harness/database.ts";
import { everything, insertPaymentRows } from "../../harness/payments/payment-rows.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("lists of payments", { timeoutMs: 120_000 });
const owner = { merchantId: "mer_a", environment: Environment.SANDBOX };
const until = new Date("2026-10-20T10:00:00Z");

const database = fixture(test, () => freshDatabase("payments"));
const db = fixture(test, () => openDatabase(database.url));
const pool = fixture(test, () => testPool(database.url, 4));
test.before(async () => {
  await insertPaymentRows(pool, { merchantId: "mer_a", count: 4_000, days: 40, until, batch: 1 });
  await pool.query("update payments set customer_email = 'No4999@mail.example' where id like '%a'");
  await pool.query("update payments set card_last4 = '4999' where id like '%aa' or id like '%ba'");
  await insertPaymentRows(pool, { merchantId: "mer_b", count: 500, days: 40, until, batch: 1 });
});

// Few of the filters are set, otherwise nothing matches.
const often = <T>(value: T, ...others: readonly fc.Arbitrary<T>[]) =>
  fc.oneof(fc.constant(value), fc.constant(value), ...others);
const status = often("", fc.constantFrom("succeeded", "failed", "processing", "refunded", "disputed", "nothing"));
const time = fc.date({ min: new Date("2026-09-08"), max: new Date("2026-10-22"), noInvalidDate: true });
const bound = often<Date | undefined>(undefined, time);
const price = fc.oneof(fc.constantFrom(999n, 1_999n, 2_000n, 4_999n), fc.bigInt(0n, 120_000n));
const amount = often<bigint | undefined>(undefined, price);
const q = often(
  "",
  fc.constantFrom(
    "buyer1",
    "anna.Silva",
    "renamed3@POST",
    "MAIL.example",
    "pay_",
    "pay_01",
    "pay_019",
    "4999",
    "0042",
    "b",
    "%",
    "_",
    "unknown@",
    "order-",
    "order-1",
    "order-123",
    "ORDER-",
    "R202610",
    "pi_mer_a_1_77",
    "pi_mer_b_1_77",
  ),
);
const some = {
  orderReference: often("", fc.constantFrom("order-4", "numbered", "nothing")),
  currency: often("", fc.constantFrom("EUR", "USD", "KWD", "JPY")),
  connector: often("", fc.constantFrom("simulator", "stripe", "adyen")),
  capturedFrom: bound,
  capturedTo: bound,
};
const filters = fc.record({ ...some, status, from: bound, to: bound, q, minAmount: amount, maxAmount: amount });

/** The list by its definition (docs/contract.md §5), over all rows. */
async function listByDefinition(sql: Sql, filter: PaymentFilters): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from payments where merchant_id = $1 and environment = $2 and visible and ($3 = '' or status = $3)
       and created_at >= coalesce($4, '-infinity'::timestamptz)
       and date_trunc('milliseconds', created_at) <= coalesce($5, 'infinity'::timestamptz)
       and amount between coalesce($6, 0::bigint) and coalesce($7, 99999999::bigint)
       and ($9 = '' or order_reference = $9) and ($10 = '' or currency = $10) and ($11 = '' or connector = $11)
       and ($12::timestamptz is null or captured_at >= $12)
       and ($13::timestamptz is null or date_trunc('milliseconds', captured_at) <= $13)
       and case when $8 = '' then true when $8 like 'pay\\_%' then starts_with(id, $8)
         else strpos(lower(customer_email), lower($8)) > 0 or (card_last4 = $8 and $8 ~ '^[0-9]{4}$')
           or (order_reference <> '' and starts_with(lower(order_reference), lower($8))) or connector_ref = $8 end
     order by created_at desc, id desc`,
    [
      ...[owner.merchantId, owner.environment, filter.status, filter.from?.toISOString(), filter.to?.toISOString()],
      ...[filter.minAmount, filter.maxAmount, filter.q, filter.orderReference, filter.currency, filter.connector],
      ...[filter.capturedFrom?.toISOString(), filter.capturedTo?.toISOString()],
    ].map((value) => value ?? null),
  );
  return rows.map((row) => row.id);
}

/** Compares within one snapshot, so that concurrent writers change neither side. */
async function assertAsDefined(
  filter: PaymentFilters,
  window: PageWindow,
  sizes?: { gatheredMax: bigint; passedMax: bigint; walkedMax: bigint },
): Promise<void> {
  await db.snapshot(async (sql) => {
    const rows: Sql["rows"] = (text, params) => sql.rows(text, params);
    const within = { rows, snapshot: <T>(read: (sql: Sql) => Promise<T>) => read(sql) };
    const { rows: items, total } = await listPayments(within, owner, filter, window, sizes);
    const wanted = await listByDefinition(sql, filter);
    assert.equal(total, BigInt(wanted.length));
    const end = Number(window.offset) + window.limit;
    assert.deepEqual(
      items.map((item) => item.id),
      wanted.slice(Number(window.offset), end),
    );
    const [cursor] = await sql.rows<{ id: string; createdAt: string }>(`${cursorQuery} offset $1 limit 1`, [
      window.offset,
    ]);
    if (!cursor) return;
    const behind = await sql.rows<{ id: string }>(
      "select id from payments where (created_at, id) < ($1::timestamptz, $2)",
      [cursor.createdAt, cursor.id],
    );
    const isBehind = new Set(behind.map(({ id }) => id));
    const after = { limit: window.limit, offset: 0n, after: cursor };
    const next = await listPayments(within, owner, filter, after, sizes);
    assert.equal(next.total, total);
    const uncounted = await listPayments(within, owner, filter, { ...after, isUncounted: true }, sizes);
    for (const { rows: items } of [next, uncounted])
      assert.deepEqual(
        items.map((item) => item.id),
        wanted.filter((id) => isBehind.has(id)).slice(0, window.limit),
      );
  });
}

// A cursor need not match the filters: a caller may narrow the list while paging.
const cursorQuery = `select id, created_at as "createdAt" from payments where merchant_id = 'mer_a' and visible order by created_at desc, id desc`;

async function assertAnyAsDefined(numRuns: number): Promise<void> {
  const window = fc.record({ limit: fc.integer({ min: 1, max: 200 }), offset: fc.bigInt(0n, 4_100n) });
  const assertOne = async (filter: PaymentFilters, at: PageWindow) => await assertAsDefined(filter, at);
  await fc.assert(fc.asyncProperty(filters, window, assertOne), { numRuns });
}

test("page and total of random filters equal the definition before changes are folded", async () => {
  await assertAnyAsDefined(120);
});

test("page and total equal the definition during inserts, updates, deletes and folds", async () => {
  let writing = true;
  const changes = [
    "update payments set refunded_amount = captured_amount where id = any (array(select id from payments where status = 'succeeded' and merchant_id = 'mer_a' order by random() limit 5))",
    "update payments set outcome = 'canceled', visible = random() < 0.5 where id = any (array(select id from payments where outcome in ('failed', 'canceled') and merchant_id = 'mer_a' order by random() limit 3))",
    "update payments set order_reference = 'numbered' where id = any (array(select id from payments where outcome = 'failed' and merchant_id = 'mer_a' order by random() limit 3))",
    "update payments set captured_at = captured_at - interval '3 days' where id = any (array(select id from payments where status = 'succeeded' and merchant_id = 'mer_a' order by random() limit 3))",
    "update payments set amount = amount + 7 where id = any (array(select id from payments where outcome = 'failed' and merchant_id = 'mer_a' order by random() limit 3))",
    "update payments set customer_email = 'Renamed' || (random() * 40)::int || '@post.example' where id = any (array(select id from payments where outcome = 'failed' and merchant_id = 'mer_a' order by random() limit 3))",
    "delete from payments where id = any (array(select id from payments where status = 'processing' and merchant_id = 'mer_a' order by random() limit 1))",
  ];
  const writers = changes.map(async (change, i) => {
    for (let round = 0; writing && round < 10_000; round++) {
      const failed = (error: unknown) =>
        assert(error instanceof Error && /deadlock/.test(error.message), String(error));
      await pool.query(change).catch(failed);
      if (i === 0) await insertPaymentRows(pool, { merchantId: "mer_a", count: 5, days: 3, until, batch: 100 + round });
    }
  });
  const folding = (async () => {
    while (writing) await foldListCounts(db, bucketStarts, 50);
  })();
  try {
    await assertAnyAsDefined(50);
  } finally {
    writing = false;
    await Promise.all([...writers, folding]);
  }
});

test("the total of a common price, counted by its neighbours, equals the definition", async () => {
  const wanted = fc.record({ status, from: bound, to: bound, minAmount: price, maxAmount: price });
  const filterArbitrary = wanted.map((some) => ({ ...everything, ...some }));
  const assertSame = async (wanted: PaymentFilters) =>
    await db.snapshot(async (sql) => {
      const { total } = await countByAmount(sql, buildNarrowing(owner, wanted), 20);
      assert.equal(total, BigInt((await listByDefinition(sql, wanted)).length));
    });
  await fc.assert(fc.asyncProperty(filterArbitrary, assertSame), { numRuns: 60 });
});

for (const [which, passedMax] of [
  ["a far page by amount", 0n],
  ["a page behind many other payments", 5_000n],
] as const) {
  test(`${which}, found through its week, equals the definition`, async () => {
    const low = fc.constantFrom(undefined, 0n, 500n, 1_999n);
    const own = fc.record({
      ...some,
      orderReference: fc.constant(""),
      status,
      from: bound,
      to: bound,
      minAmount: low,
      maxAmount: amount,
    });
    const filterArbitrary = own.map((some) => ({ ...everything, ...some }));
    const window = fc.record({ limit: fc.constant(20), offset: fc.bigInt(1n, 900n) });
    const farAtOnce = fc.constant({ gatheredMax: 0n, passedMax, walkedMax: 30n });
    await fc.assert(fc.asyncProperty(filterArbitrary, window, farAtOnce, assertAsDefined), { numRuns: 40 });
  });
}

for (const [how, passedMin] of [
  ["are searched among the newest payments", 10_000],
  ["lie behind too many others", 5],
] as const) {
  test(`a search whose many hits ${how} equals the definition`, async () => {
    const window = { limit: 30, offset: 20n };
    const sizes = { gatheredMax: 25, emailHitsMax: 25, passedMin };
    for (const term of ["buyer", "4999", "pay_0", "e", "order-", "R202610"]) {
      for (const wanted of [everything, { ...everything, status: "succeeded", minAmount: 1_000n }]) {
        await db.snapshot(async (sql) => {
          const found = await searchPayments(sql, buildNarrowing(owner, wanted), term, window, sizes);
          const all = await listByDefinition(sql, { ...wanted, q: term });
          assert.deepEqual(
            found.rows.map((row) => row.id),
            all.slice(20, 50),
          );
          assert.equal(found.total, BigInt(all.length));
        });
      }
    }
  });
}

test("every prefix of an id finds exactly the payments that start with it", async () => {
  const { rows } = await pool.query("select min(id), max(id) from payments where merchant_id = 'mer_a'");
  for (const id of [String(rows[0].min), String(rows[0].max)]) {
    for (let length = 4; length <= id.length; length++) {
      await assertAsDefined({ ...everything, q: id.slice(0, length) }, { limit: 5, offset: 0n });
    }
  }
});

test("concurrent folds fold each change once", async () => {
  await insertPaymentRows(pool, { merchantId: "mer_a", count: 1_000, days: 3, until, batch: 2 });
  const folds = async () => {
    let left = 1;
    while (left > 0) {
      await foldListCounts(db, bucketStarts, 100);
      left = Number((await pool.query("select count(*) from list_deltas")).rows[0].count);
    }
  };
  await Promise.all([folds(), folds(), folds()]);
  await assertAnyAsDefined(60);
});

test("paging returns each payment once, also among equal times", async () => {
  await pool.query("update payments set created_at = date_trunc('day', created_at) where merchant_id = 'mer_b'");
  const ids: string[] = [];
  for (let offset = 0n; ; offset += 7n) {
    const { rows: items, total } = await listPayments(db, { ...owner, merchantId: "mer_b" }, everything, {
      limit: 7,
      offset,
    });
    assert.equal(total, 500n);
    ids.push(...items.map((item) => item.id));
    if (items.length === 0) break;
  }
  assert.equal(ids.length, 500);
  assert.equal(new Set(ids).size, 500);
});

test("a listed payment's net amount is captured less refunded, fee and lost disputes, and 0 before a capture", async () => {
  const merchantId = "mer_b";
  const paid = "outcome = 'succeeded' and dispute_hold = 'none' and amount > 500 and refunded_amount";
  const chosen = await db.rows<{ id: string; net: string }>(
    `update payments set fee_amount = 59 where merchant_id = '${merchantId}' and id in (
       (select id from payments where merchant_id = '${merchantId}' and ${paid} = 0 order by id limit 1) union all
       (select id from payments where merchant_id = '${merchantId}' and ${paid} > 0 order by id limit 1))
     returning id, captured_amount - refunded_amount - 59 - case when refunded_amount = 0 then 300 else 0 end as net`,
  );
  const disputed = chosen.find(({ net }) => net !== "-59")?.id;
  for (const [i, status, amount, released] of [
    [0, "lost", 300, false],
    [1, "lost", 200, true],
    [2, "won", 100, false],
  ] as const) {
    await db.rows(
      `insert into disputes (id, payment_id, connector, connector_ref, reason, status, amount, opened_at, released)
       values ($1, $2, 'simulator', $1, 'fraudulent', $3, $4, now(), $5)`,
      [`dp_${String(i).repeat(26)}`, disputed, status, amount, released],
    );
  }
  const { rows } = await listPayments(db, { ...owner, merchantId }, everything, { limit: 500, offset: 0n });
  const netOf = new Map(rows.map((row) => [row.id, row.netAmount]));
  for (const { id, net } of chosen) assert.equal(netOf.get(id), BigInt(net));
  assert.equal(chosen.length, 2);
  assert(rows.every(({ capturedAmount, netAmount }) => capturedAmount > 0n || netAmount === 0n));
});

test("a far page reads as few blocks as a near one, with every filter", async () => {
  await pool.query("vacuum analyze payments");
  const walking = { gatheredMax: 0n, passedMax: 0n, walkedMax: 30n };
  const filterSets: readonly Partial<PaymentFilters>[] = [
    {},
    { status: "succeeded" },
    { to: new Date(until.getTime() + 1) },
    { status: "succeeded", from: new Date("2026-01-01"), to: new Date(until.getTime() + 1) },
    { minAmount: 1n, to: new Date(until.getTime() + 1) },
    { currency: "EUR", to: new Date(until.getTime() + 1) },
  ];
  for (const some of filterSets)
    for (const isUncounted of [true, false]) {
      const cost = async (offset: number) => {
        const [after] = await db.rows<{ id: string; createdAt: string }>(`${cursorQuery} offset ${offset} limit 1`);
        assert(after);
        const seen = { blocks: 0 };
        const window = { limit: 10, offset: 0n, after, isUncounted };
        const { rows } = await listPayments(explained(seen), owner, { ...everything, ...some }, window, walking);
        assert.equal(rows.length, 10);
        return seen.blocks;
      };
      const [near, far] = [await cost(50), await cost(3_500)];
      assert.ok(far < near + 15, `${Object.keys(some)}: ${near} blocks near the newest, ${far} far from it`);
    }
});

/** Reads, and counts the blocks that the server read. */
function explained(seen: { blocks: number }): Pick<Database, "rows" | "snapshot"> {
  const rows: Sql["rows"] = async (text, params) => {
    const [explained] = await db.rows<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, timing off, format json) ${text}`,
      params,
    );
    const top = explained?.["QUERY PLAN"][0].Plan;
    seen.blocks += Number(top?.["Shared Hit Blocks"]) + Number(top?.["Shared Read Blocks"]);
    return await db.rows(text, params);
  };
  return { rows, snapshot: (read) => read({ rows } as Sql) };
}

test("refunds of an order, of a customer and those that need action equal the definition", async () => {
  // A failure after the refund that was made.
  await pool.query(`insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector,
      connector_ref, created_at)
    select 're_2' || substr(id, 5), payment_id, merchant_id, environment, currency, amount, 'failed', connector,
      'rf_2' || id, created_at + interval '1 hour'
    from refunds where id like 're_0%a'`);
  const some = "select payment_id from refunds order by id limit 5";
  await pool.query(`update payments set order_reference = 'Desk-1' where id in (${some})`);
  const references = ["", "desk-1", "DESK-1", "desk"];
  const emails = ["", "no4999@MAIL.example", "buyer1@mail.example", "4999@mail.example", "%"];
  const definition = `select r.id from refunds r join payments p on p.id = r.payment_id
    where r.merchant_id = $1 and r.environment = $2
      and ($3 = '' or (p.order_reference <> '' and lower(p.order_reference) = lower($3)))
      and ($4 = '' or lower(p.customer_email) = lower($4))
      and (not $5 or (r.status = 'failed' and not exists (select from refunds o where o.payment_id = r.payment_id
        and o.status in ('pending', 'succeeded') and o.created_at > r.created_at)))
    order by r.created_at desc, r.id desc`;
  const filters = { status: "", range: timeRange(undefined, undefined) };
  let found = 0;
  for (const orderReference of references)
    for (const customerEmail of emails)
      for (const needsAction of [false, true]) {
        const wanted = await db.rows<{ id: string }>(definition, [
          ...[owner.merchantId, owner.environment, orderReference, customerEmail, needsAction],
        ]);
        const choice = { paymentId: "", orderReference, customerEmail, needsAction };
        const { rows, total } = await listChosenRefunds(db, owner, choice, filters, { limit: 1_000, offset: 0n });
        assert.equal(total, BigInt(wanted.length));
        assert.deepEqual(
          rows.map(({ id }) => id),
          wanted.map(({ id }) => id),
        );
        found += Number(wanted.length > 0);
      }
  assert.ok(found >= 4, `${found} choices found refunds`);
});

test("hasMore is exact, and only an object of the owner is a cursor", async () => {
  const [last] = (
    await pool.query("select id from refunds where merchant_id = 'mer_a' order by created_at, id limit 1")
  ).rows;
  const all = { status: "", range: timeRange(undefined, undefined) };
  const page = (limit: number, offset: bigint, afterId = "") =>
    readPage(
      { limit, offset, afterId },
      (id) => findCursor(db, "refunds", owner, id),
      (window) => listRefundRecords(db, owner, all, window),
    );
  const { total } = await page(1, 0n);
  assert.equal((await page(1, total - 1n)).hasMore, false);
  const [before] = (await page(1, total - 2n)).rows;
  for (const [limit, hasMore] of [
    [1, false],
    [2, false],
  ] as const) {
    const behind = await page(limit, 0n, before?.id);
    assert.deepEqual([behind.rows.map(({ id }) => id), behind.hasMore, behind.total], [[last?.id], hasMore, total]);
  }
  assert.deepEqual((await page(10, 0n, last?.id)).rows, []);
  await assert.rejects(page(1, 1n, last?.id), isRefusal("INVALID_BODY", "offset"));
  for (const id of ["re_01jd3v9q6k8m2n4p6r8t0v2x4z", "x"])
    await assert.rejects(page(1, 0n, id), isRefusal("INVALID_BODY", "after"));
  const elsewhere = findCursor(db, "refunds", { ...owner, merchantId: "mer_b" }, String(last?.id));
  await assert.rejects(elsewhere, isRefusal("INVALID_BODY", "after"));
});

test.run();
