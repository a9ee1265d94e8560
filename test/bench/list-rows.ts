// Fills the payments database of the list benchmark: one merchant with half of the rows, a hundred with the rest, over a year. The
// triggers count every row; the indexes are dropped for the load and made again after it, which is several times faster.
import type pg from "pg";
import type { Database } from "#platform/database.ts";
import { foldListCounts } from "#platform/list-counts.ts";
import { insertPaymentRows } from "../harness/payment-rows.ts";

const others = 100;
const days = 365;
// One statement and its folding stay within seconds.
const chunk = 200_000;
const foldMax = 200_000;

/** @param say told of each step */
export async function loadPayments(
  client: pg.Client,
  db: Database,
  rows: number,
  say: (line: string) => void,
): Promise<void> {
  const began = performance.now();
  const step = (what: string) => say(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${what}`);
  const { rows: indexes } = await client.query<{ name: string; text: string }>(
    `select indexname as name, indexdef as text from pg_indexes where tablename = 'payments' and indexname not in (
       select conname from pg_constraint)`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  const until = new Date();
  const half = Math.floor(rows / 2);
  const each = Math.ceil((rows - half) / others);
  const parts = Math.ceil(half / chunk);
  for (let part = 0; part < parts; part++) {
    const count = Math.min(chunk, half - part * chunk);
    const end = new Date(until.getTime() - (part * days * 86_400_000) / parts);
    await insertPaymentRows(client, { merchantId: "mer_big", count, days: days / parts, until: end, batch: part });
    await fold(db);
    if (part % 5 === 4) step(`${(part + 1) * chunk} payments of the large merchant`);
  }
  for (let other = 0; other < others; other++) {
    await insertPaymentRows(client, { merchantId: `mer_${other}`, count: each, days, until, batch: 0 });
    await fold(db);
    if (other % 20 === 19) step(`${other + 1} other merchants`);
  }
  await client.query("set maintenance_work_mem = '1GB'");
  for (const { text } of indexes) await client.query(text);
  step("indexes made");
  await client.query("vacuum analyze");
  step("vacuumed and analysed, as autovacuum keeps it");
  const sizes = await client.query<{ name: string; mb: string }>(
    `select indexrelname as name, pg_relation_size(indexrelid) / 1000000 as mb from pg_stat_user_indexes
     where relname in ('payments', 'list_counts') order by 2 desc`,
  );
  say(`index sizes, MB: ${sizes.rows.map((row) => `${row.name} ${row.mb}`).join(" · ")}`);
}

async function fold(db: Database): Promise<void> {
  while ((await foldListCounts(db, foldMax)) > 0) {}
}
