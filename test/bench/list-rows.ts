// Fills the payments database of the list benchmark: one merchant with half of the rows, a hundred with the rest, over
// a year. The rows are counted and indexed once after the load instead of one by one, which is several times faster.
import type pg from "pg";
import { bucketStarts } from "#platform/lists/amount-bucket.ts";
import { insertPaymentRows } from "../harness/payments/payment-rows.ts";
import { indexLater } from "./list-index-later.ts";

const others = 100;
const days = 365;
// One statement stays within seconds.
const chunk = 200_000;

// What the triggers would have counted (platform/lists/list-counts.ts).
const countText = `
  insert into list_counts
  select merchant_id, environment, list, grain, starts, status, bucket, count(*) from (
      select merchant_id, environment, list, at, status, amount from payments,
        lateral (values ('payments', created_at), ('payments/' || currency || '/' || connector, created_at),
          ('captured/' || currency || '/' || connector, captured_at)) as lists (list, at)
      union all select merchant_id, environment, 'refunds', created_at, status, null from refunds) counted,
    lateral (select (at at time zone 'UTC')::date as day) d,
    lateral (values ('day', day, -1),
      ('week', date_trunc('week', day)::date, width_bucket(amount, $1::bigint[]) - 1)) as cell (grain, starts, bucket)
  where at is not null and (grain = 'day' or amount is not null)
  group by 1, 2, 3, 4, 5, 6, 7`;

// And kept (services/payments/store/schema/0010-customer-emails.sql).
const emailsText = `
  insert into customer_emails select distinct merchant_id, environment, customer_email from payments order by 1, 2, 3`;

// Every disputed payment, and each fiftieth of the others, whose merchants have won: a hundred thousand of the large
// one.
const disputesText = `
  insert into disputes (id, payment_id, connector, connector_ref, reason, status, amount, opened_at, evidence_due_at)
  select 'dp_' || substr(id, 5), id, connector, 'dsp_' || id, 'fraudulent',
    case when status = 'disputed' then 'needs_response' else 'won' end, amount, created_at, created_at + interval '7 days'
  from payments where status = 'disputed' or abs(hashtext(id)) % 50 = 0`;

/**
 * @param say told of each step
 * @param large the merchant with so large a share of the rows
 */
export async function loadPayments(
  client: pg.Client,
  rows: number,
  say: (line: string) => void,
  large = { merchantId: "mer_big", share: 0.5 },
): Promise<void> {
  const began = performance.now();
  const step = (what: string) => say(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${what}`);
  const makeIndexes = await indexLater(client, ["payments", "refunds", "customer_emails"]);
  const until = new Date();
  const own = Math.floor(rows * large.share);
  const each = Math.ceil((rows - own) / others);
  const parts = Math.ceil(own / chunk);
  for (let part = 0; part < parts; part++) {
    const count = Math.min(chunk, own - part * chunk);
    const end = new Date(until.getTime() - (part * days * 86_400_000) / parts);
    await insertPaymentRows(client, {
      merchantId: large.merchantId,
      count,
      days: days / parts,
      until: end,
      batch: part,
    });
    if (part % 5 === 4) step(`${(part + 1) * chunk} payments of the large merchant`);
  }
  for (let other = 0; other < others; other++) {
    await insertPaymentRows(client, { merchantId: `mer_${other}`, count: each, days, until, batch: 0 });
    if (other % 20 === 19) step(`${other + 1} other merchants`);
  }
  await client.query("set work_mem = '256MB'");
  await client.query(countText, [bucketStarts]);
  step("counted");
  await client.query(emailsText);
  step("e-mails gathered");
  await makeIndexes();
  step("indexes made");
  await client.query(disputesText);
  step("disputes opened");
  await client.query("vacuum analyze");
  step("vacuumed and analysed, as autovacuum keeps it");
  const sizes = await client.query<{ name: string; mb: string }>(
    `select regexp_replace(indexrelname, '_\\d+_', 's_') as name, sum(pg_relation_size(indexrelid))::bigint / 1000000 as mb
     from pg_stat_user_indexes where relname ~ '^(payments|disputes|list_counts|customer_emails_.*)$' group by 1 order by 2 desc`,
  );
  say(`index sizes, MB: ${sizes.rows.map((row) => `${row.name} ${row.mb}`).join(" · ")}`);
}
