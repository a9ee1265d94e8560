// A month of payments with attempts, refunds, operations and journal entries, made in the tables themselves: triggers
// and foreign keys are off, and the lists' counters are added at the end.
import type pg from "pg";
import { idFloor } from "#platform/values/id.ts";

const digits = Array.from(
  { length: 10 },
  (_, at) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - at)}) & 31)::int + 1, 1)`,
);
const ulid = `${digits.join(" || ")} || left(md5(ms::text || i), 16)`;

// 19 of 20 are paid, one of 50 of them refunded.
const paymentsText = `
  insert into payments (id, merchant_id, environment, session_id, amount, currency, description, order_reference, customer_email, metadata,
    connector, connector_account_id, connector_ref, surface, outcome, status, captured_amount, refunded_amount, fee_amount, visible, card_brand,
    card_last4, card_funding, card_fingerprint, method, authorized_at, captured_at, created_at, expires_at, announced_by_confirm,
    last_attempt_ref, finished_attempts)
  select 'pay_' || suffix, $1, 1, 'cs_' || suffix, amount, 'EUR', 'Order ' || i, 'order-' || suffix, 'buyer' || h % 150000 || '@mail.example',
    jsonb_build_object('order', i), 'simulator', 'mco_rows', 'pi_' || suffix, 'embedded', outcome,
    case when outcome = 'succeeded' then case when refunded > 0 then 'refunded' else 'succeeded' end else 'failed' end,
    case when outcome = 'succeeded' then amount else 0 end, refunded, case when outcome = 'succeeded' then 30 else 0 end, true, 'visa',
    lpad((h % 10000)::text, 4, '0'), 'credit', md5(h::text), '{"type": "card"}', case when outcome = 'succeeded' then at end,
    case when outcome = 'succeeded' then at end, at, at + interval '1 day', true, 'ch_' || suffix, array['ch_' || suffix]
  from generate_series(1, $3::bigint) i,
    lateral (select ($2 || '-01')::timestamptz + i * (interval '27 days' / $3::float8) as at, abs(hashint8(i)) as h) a,
    lateral (select (extract(epoch from at) * 1000)::bigint as ms) b, lateral (select ${ulid} as suffix) c,
    lateral (select case when h % 20 = 3 then 'failed' else 'succeeded' end as outcome, 100 + h % 90000 as amount) d,
    lateral (select case when outcome = 'succeeded' and h % 50 = 1 then amount else 0 end as refunded) e`;

const mine = "from payments p where p.id >= $1 and p.id < $2";
const sideTexts = [
  `insert into attempts (payment_id, ref, outcome, ended_at, card_brand, card_last4, method, connector_account_id)
   select id, last_attempt_ref, outcome, created_at, 'visa', card_last4, method, connector_account_id ${mine}`,
  `insert into operations (id, kind, payment_id, reference, state, tries, next_try_at, created_at)
   select 'op_' || substr(id, 5), 'create_intent', id, id, 'done', 1, created_at, created_at ${mine}`,
  `insert into operation_history (operation_id, fact, at)
   select 'op_' || substr(id, 5), 'in_doubt', created_at ${mine} and hashtext(id) % 10 = 0`,
  `insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, connector_ref, acknowledged, created_at)
   select 're_' || substr(id, 5), id, merchant_id, environment, currency, refunded_amount, 'succeeded', connector, 'rf_' || id, true,
     created_at + interval '20 days' ${mine} and refunded_amount > 0`,
  `insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount, created_at, captured_at)
   select merchant_id, environment, currency, id, e.kind, e.cause, e.debit, e.credit, e.amount, created_at + e.later,
     case when e.kind = 'captured' then captured_at end
   from payments p cross join lateral (values
     ('captured', 'ch', 'processor_clearing', 'merchant_balance', captured_amount, interval '0'),
     ('fee_charged', 'ch', 'merchant_balance', 'fees_revenue', fee_amount, interval '0'),
     ('refund_reserved', 're', 'merchant_balance', 'refunds_pending', refunded_amount, interval '20 days'),
     ('refund_paid', 're', 'refunds_pending', 'processor_clearing', refunded_amount, interval '20 days'))
     as e (kind, cause, debit, credit, amount, later)
   where p.id >= $1 and p.id < $2 and e.amount > 0 order by p.id`,
  "insert into customer_emails select distinct merchant_id, environment, customer_email from payments p where p.id >= $1 and p.id < $2 on conflict do nothing",
  `insert into list_deltas select merchant_id, environment, 'payments', created_at, status, amount, 1 ${mine}`,
  `insert into list_deltas select merchant_id, environment, 'refunds', created_at, status, null, 1 from refunds p where p.id >= 're_' || substr($1, 5) and p.id < 're_' || substr($2, 5)`,
];

/** Makes the rows without the indexes that no constraint needs, which are built at the end. */
export async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as text from pg_index i
     where i.indrelid = any('{payments,journal,operations,attempts,refunds}'::regclass[]) and not i.indisunique`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await work();
  await client.query("set maintenance_work_mem = '1GB'");
  for (const { text } of rows) await client.query(text);
}

/** @param month YYYY-MM */
export async function insertMonth(client: pg.Client, merchantId: string, month: string, count: number): Promise<void> {
  await client.query("set session_replication_role = replica");
  await client.query(paymentsText, [merchantId, month, count]);
  const start = new Date(`${month}-01`);
  const end = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
  for (const text of sideTexts)
    await client.query(text, [idFloor("payment", start.getTime()), idFloor("payment", end)]);
  await client.query("set session_replication_role = origin");
}
