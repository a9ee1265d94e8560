// The list of sessions by reference, e-mail and search, at its store: page and total equal the definition
// (docs/contract.md §4) with each search strategy.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Sql } from "#platform/database/database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type ListFilter, listSessions } from "../../../services/checkout/store/session-lists.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("lists of sessions", { timeoutMs: 60_000 });
const owner = { merchantId: "mer_a", environment: Environment.SANDBOX };

// A third without a reference, a third without an e-mail, one in fifty with both alike.
const sessionsText = `
  insert into sessions (id, merchant_id, environment, amount, currency, description, order_reference, customer_email, metadata,
    connector, surface, success_url, cancel_url, locale, secret_hash, render, created_at, expires_at, next_check_at)
  select 'cs_' || $1 || translate(lpad(i::text, 25, '0'), 'ilou', 'wxyz'), 'mer_' || $2::text, 1, 100, 'EUR', '',
    case when i % 50 = 7 then 'Both' || i when i % 3 = 0 then '' else 'A-' || i % 700 end,
    case when i % 50 = 7 then 'both' || i || '@x.example' when i % 3 = 1 then '' else 'Buyer' || i % 90 || '@x.example' end,
    '{}', 'simulator', 'hosted', '', '', '', sha256('x'), 'x', timestamptz '2026-10-20T10:00:00Z' - make_interval(mins => i),
    now() + interval '1 day', now()
  from generate_series(1, 2000) i`;

const database = fixture(test, () => freshDatabase("checkout"));
const db = fixture(test, () => openDatabase(database.url));
test.before(async () => {
  await db.rows(sessionsText, ["0", "a"]);
  await db.rows(sessionsText, ["1", "b"]);
  await db.rows("update sessions set status = 'expired', next_check_at = null, render = null where id like '%7'");
});

const often = <T>(value: T, other: fc.Arbitrary<T>) => fc.oneof(fc.constant(value), fc.constant(value), other);
const time = fc.date({ min: new Date("2026-10-18"), max: new Date("2026-10-21"), noInvalidDate: true });
// Whole ids, the prefix that buyers quote, which many share here, and prefixes that are too short.
const ids = [`0${"0".repeat(22)}123`, `0${"0".repeat(21)}1`, "0".repeat(14), "0".repeat(13)].flatMap((own) => [
  `cs_${own}`,
  `pay_${own}`,
]);
const filters = fc.record({
  ...{ merchantId: fc.constant(owner.merchantId), environment: fc.constant(owner.environment) },
  status: often("", fc.constantFrom("open", "expired", "completed")),
  from: often<Date | undefined>(undefined, time),
  to: often<Date | undefined>(undefined, time),
  orderReference: often("", fc.constantFrom("A-7", "a-7", "Both7", "A-%")),
  customerEmail: often("", fc.constantFrom("buyer5@X.example", "Buyer5@x.example", "unknown@x.example")),
  q: often("", fc.constantFrom("A-", "A-6", "buyer", "BUYER1", "both", "Both", "B", "%", "_", ...ids)),
});

/** The list by its definition, over all rows. */
async function listByDefinition(sql: Sql, filter: ListFilter): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from sessions where merchant_id = $1 and environment = $2 and ($3 = '' or status = $3)
       and created_at >= coalesce($4, '-infinity'::timestamptz)
       and date_trunc('milliseconds', created_at) <= coalesce($5, 'infinity'::timestamptz)
       and ($6 = '' or order_reference = $6) and ($7 = '' or lower(customer_email) = lower($7))
       and ($8 = '' or ($8 ~ '^(cs|pay)_.{14}' and starts_with(id, regexp_replace($8, '^pay_', 'cs_')))
         or (order_reference <> '' and starts_with(order_reference, $8))
         or (customer_email <> '' and starts_with(lower(customer_email), lower($8))))
     order by created_at desc, id desc`,
    [
      ...[filter.merchantId, filter.environment, filter.status, filter.from?.toISOString(), filter.to?.toISOString()],
      ...[filter.orderReference, filter.customerEmail, filter.q],
    ].map((value) => value ?? null),
  );
  return rows.map(({ id }) => id);
}

for (const [strategy, hitsMax, passedMin] of [
  ["gathered", 10_000, 10_000],
  ["searched among the newest sessions", 5, 10_000],
  ["sorted, behind too many other sessions", 5, 10],
] as const) {
  test(`page and total of random filters equal the definition when hits are ${strategy}`, async () => {
    const window = fc.record({ limit: fc.integer({ min: 1, max: 60 }), offset: fc.bigInt(0n, 300n) });
    const assertAsDefined = async (filter: ListFilter, { limit, offset }: { limit: number; offset: bigint }) => {
      const { rows, total } = await listSessions(db, filter, { limit, offset }, hitsMax, passedMin);
      const wanted = await listByDefinition(db, filter);
      assert.equal(total, BigInt(wanted.length));
      const ids = rows.map(({ id }) => id);
      assert.deepEqual(ids, wanted.slice(Number(offset), Number(offset) + limit));
      const [last] = rows.slice(-1);
      if (!last) return;
      const [row] = await db.rows<{ createdAt: string }>(
        `select created_at as "createdAt" from sessions where id = $1`,
        [last.id],
      );
      const after = { createdAt: String(row?.createdAt), id: last.id };
      const next = await listSessions(db, filter, { limit, offset: 0n, after }, hitsMax, passedMin);
      const behind = wanted.slice(wanted.indexOf(last.id) + 1);
      assert.deepEqual(
        next.rows.map(({ id }) => id),
        behind.slice(0, limit),
      );
      assert.equal(next.total, total);
    };
    await fc.assert(fc.asyncProperty(filters, window, assertAsDefined), { numRuns: 80 });
  });
}

test.run();
