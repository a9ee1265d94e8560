// Fills the checkout database of the list benchmark: one merchant with half of the sessions, a hundred with the rest,
// over a year. The rows are counted and indexed once after the load instead of one by one, which is several times
// faster.
import type pg from "pg";
import type { PaymentRows } from "../harness/payments/payment-rows.ts";
import { indexLater } from "./list-index-later.ts";

const others = 100;
const days = 365;
// One statement stays within seconds.
const chunk = 200_000;

// Ended but for those of the last day; references, e-mails and times as payments have them
// (test/harness/payments/payment-rows.ts).
const sessionsText = `
  insert into sessions (id, merchant_id, environment, status, amount, currency, description, order_reference, customer_email, metadata,
    connector, surface, success_url, cancel_url, locale, secret_hash, render, payment_status, next_check_at, created_at, expires_at, completed_at)
  select 'cs_0' || translate(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || left(md5($4 || $1 || i), 13), 'ilou', 'wxyz'),
    $1, 1, status, 1000 + h % 9000, 'EUR', 'Order ' || h, case when h % 4 < 3 then 'order-' || h % 5000000
      when h % 8 = 3 then to_char(at at time zone 'UTC', '"R"YYYYMMDD"-"') || h % 1000 else '' end,
    case when h / 11 % 2 = 0 then 'Buyer' || h % 50000
      else (array['anna','ben','clara','david','emma','felix','greta','hugo','ines','jonas','karla','leon','maria','nils','olga','paul',
          'rosa','simon','tina','uwe','vera','willem','yara','zoe'])[1 + h / 22 % 24] || '.' || h / 528 % 100000 end
      || '@' || (array['mail.example', 'post.example', 'inbox.test'])[1 + h % 3],
    '{}', 'simulator', 'hosted', 'https://shop.example/thanks', 'https://shop.example/cart', 'en', sha256('x'),
    case when status = 'open' then 'x'::bytea end, case when status = 'completed' then 'succeeded' else '' end,
    case when status = 'open' then at + interval '1 day' end, at, at + interval '1 day', case when status = 'completed' then at end
  from (select i, at, abs(hashint8extended(i, $4::bigint) % 1000000007) as h
      from generate_series(0, $2::bigint - 1) as i,
        lateral (select $3::timestamptz - make_interval(secs => $5::float8 * 86400 * (i + 0.5) / $2::float8) as at) a) numbered,
    lateral (select case when at > now() - interval '1 day' then 'open' when h % 10 < 6 then 'completed'
      when h % 997 = 6 then 'canceled' else 'expired' end as status) s`;

const countText = `
  insert into list_counts
  select merchant_id, environment, 'sessions', 'day', (created_at at time zone 'UTC')::date, status, -1, count(*) from sessions
  group by 1, 2, 3, 4, 5, 6, 7`;

/** @param say told of each step */
export async function loadSessions(client: pg.Client, rows: number, say: (line: string) => void): Promise<void> {
  const began = performance.now();
  const step = (what: string) => say(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${what}`);
  const makeIndexes = await indexLater(client, ["sessions"]);
  const until = new Date();
  const half = Math.floor(rows / 2);
  const parts = Math.ceil(half / chunk);
  for (let part = 0; part < parts; part++) {
    const count = Math.min(chunk, half - part * chunk);
    const end = new Date(until.getTime() - (part * days * 86_400_000) / parts);
    await insertSessionRows(client, { merchantId: "mer_big", count, days: days / parts, until: end, batch: part });
  }
  step(`${half} sessions of the large merchant`);
  const each = Math.ceil((rows - half) / others);
  for (let other = 0; other < others; other++) {
    await insertSessionRows(client, { merchantId: `mer_${other}`, count: each, days, until, batch: 0 });
  }
  step(`${others} other merchants`);
  await client.query(countText);
  step("counted");
  await makeIndexes();
  step("indexes made");
  await client.query("vacuum analyze");
  step("vacuumed and analysed, as autovacuum keeps it");
}

/** Inserts sessions in one statement. */
export async function insertSessionRows(client: pg.Client, rows: PaymentRows): Promise<void> {
  const { merchantId, count, days, until, batch } = rows;
  await client.query(sessionsText, [merchantId, count, until.toISOString(), String(batch), days]);
}
