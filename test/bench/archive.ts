// `npm run bench -- archive`: payments of many months, most of which are archived while creates and lists go on: their
// times before and after, the disk, reads by id, a month that comes back, and the books.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import { Database } from "#platform/database/database.ts";
import { foldListCounts, listCountsJob } from "#platform/lists/list-counts.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { idFloor } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import { Archive } from "../../services/archive/archive.ts";
import { listMonths, setGoal } from "../../services/archive/months.ts";
import { auditLedger } from "../../services/payments/audit/ledger.ts";
import { archivedPayments } from "../../services/payments/flows/restore-archived.ts";
import { bucketStarts } from "../../services/payments/lists/counted-ranges.ts";
import { listPayments } from "../../services/payments/lists/payments.ts";
import { readBalances } from "../../services/payments/store/journal.ts";
import { foldMoneyDays } from "../../services/payments/store/money-days.ts";
import { insertPayments } from "../../services/payments/store/new-payments.ts";
import { findArchivedRecord, findRecord } from "../../services/payments/store/payment-records.ts";
import { freshDatabase, openDatabase } from "../harness/database.ts";
import { optionsOf } from "../harness/options.ts";
import { noArchive } from "../harness/payments/money-services.ts";
import { paymentInsert } from "../harness/payments/payment-insert.ts";
import { everything } from "../harness/payments/payment-rows.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { insertMonth, withoutIndexes } from "./archive-rows.ts";
import { connectSuperuser } from "./statistics.ts";

printHelpIfRequested(`npm run bench -- archive [--rows N] [--months N] [--growth N] [--archive N]

  --rows     payments, 1,000 to 20,000,000; default 10,000,000
  --months   over which they are spread, 8 to 120; default 36
  --growth   percent by which each month has more than the one before, 0 to 100; default 0
  --archive  oldest months that are archived; default 30`);
const {
  rows,
  months,
  growth,
  archive: archived,
} = optionsOf({
  rows: { fallback: 10_000_000, least: 1_000, most: 20_000_000 },
  months: { fallback: 36, least: 8, most: 120 },
  growth: { fallback: 0, least: 0, most: 100 },
  archive: { fallback: 30, least: 1, most: 113 },
});

// About two creates and lists a second.
const loadPauseMs = 500;
const owner = { merchantId: "mer_01jd3v9q6k8m2n4p6r8t0v2x4z", environment: Environment.SANDBOX };
const log = createLog("bench", "warn");
const now = new Date();
/** YYYY-MM of the n-th month, the oldest first. */
const monthAt = (n: number) =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months + n, 1)).toISOString().slice(0, 7);

const weights = Array.from({ length: months }, (_, n) => (1 + growth / 100) ** n);
const weightsSum = weights.reduce((sum, one) => sum + one, 0);
const paymentsIn = weights.map((one) => Math.ceil((rows * one) / weightsSum));

const made = await freshDatabase("payments");
const db = await openDatabase(made.url);
const writer = await connectSuperuser(made.url);
// Sums over the whole journal take longer than a service waits.
const books = await Database.open({ url: made.url, name: "bench", log, statementMsMax: 600_000 });
const folder = await tempDir("archive");
const place = { ...noArchive, ARCHIVE_URL: pathToFileURL(`${folder}/`) };
const archive = new Archive({ db, log }, archivedPayments, place);

await fill(writer);
const sample = await writer.query<{ id: string }>("select id from payments where id < $1 order by md5(id) limit 10", [
  idFloor("payment", Date.parse(`${monthAt(archived)}-01`)),
]);
const records = await Promise.all(sample.rows.map(({ id }) => findRecord(db, owner, id)));
const balances = JSON.stringify(await readBalances(books, owner), bigText);
const size = await bytesOf(writer);
const [creates, lists] = [await measure("create, before", create), await measure("list, before", list)];

const startedAt = performance.now();
const [slowCreates, slowLists]: [number[], number[]] = [[], []];
let isOver = false;
const foldLists = listCountsJob(db, bucketStarts).runOnce;
const load = (async () => {
  while (!isOver) {
    await fold();
    slowCreates.push(await timeOf(create));
    slowLists.push(await timeOf(list));
    await setTimeout(loadPauseMs);
  }
})();
for (let n = 0; n < archived; n++) await setGoal(db, monthAt(n), "archived");
// Two replicas of the service, each with a month of its own.
await Promise.all([archive, new Archive({ db, log }, archivedPayments, place)].map(runAll));
isOver = true;
await load;
await fold();
const seconds = (performance.now() - startedAt) / 1_000;
const files = (await listMonths(db)).reduce((sum, { bytes }) => sum + Number(bytes), 0);
const gone = (await listMonths(db)).reduce((sum, { documents }) => sum + Number(documents), 0);
console.log(
  `${gone} payments in ${seconds.toFixed(0)} s, ${Math.round(gone / seconds)} a second, while others were created and listed:`,
);
console.log(`  ${summary("create", slowCreates)}\n  ${summary("list", slowLists)}`);

assert.equal(JSON.stringify(await readBalances(books, owner), bigText), balances, "balances before and after");
await assertBooks();
await writer.query("vacuum analyze");
const left = await bytesOf(writer);
console.log(
  `tables and indexes ${gb(size)} before; ${gb(left)} after, of which PostgreSQL reuses ${gb(await freeBytes(writer))}; files ${gb(files)}`,
);
const [after, listsAfter] = [await measure("create, after", create), await measure("list, after", list)];
console.log(`speed after to before: creates ${(creates / after).toFixed(2)}, lists ${(lists / listsAfter).toFixed(2)}`);

const readTimes: number[] = [];
for (const record of records) {
  assert(record);
  const document = await archive.find(record.id);
  const read = document === undefined ? undefined : await findArchivedRecord(db, owner, record.id, document);
  assert.equal(read?.archived, true);
  assert.deepEqual([read.amount, read.status, read.capturedAt], [record.amount, record.status, record.capturedAt]);
  readTimes.push(await timeOf(() => archive.find(record.id)));
}
console.log(summary("10 archived payments read by id", readTimes));
const from = performance.now();
await setGoal(db, monthAt(1), "restored");
await runAll(archive);
console.log(`${monthAt(1)} restored in ${((performance.now() - from) / 1_000).toFixed(1)} s`);
assert.equal(JSON.stringify(await readBalances(books, owner), bigText), balances, "balances after the restore");
await assertBooks();
await writer.end();
await Promise.all([db.close(), books.close()]);
await made.drop();
await rm(folder, { recursive: true });
process.exit();

async function fill(client: pg.Client): Promise<void> {
  await withoutIndexes(client, async () => {
    let next = 0;
    const makeMonths = async (maker: pg.Client) => {
      for (let n = next++; n < months; n = next++) {
        const count = paymentsIn[n] ?? 0;
        await insertMonth(maker, owner.merchantId, monthAt(n), count);
        console.log(`${monthAt(n)}: ${count} payments made`);
      }
    };
    const second = await connectSuperuser(made.url);
    await Promise.all([makeMonths(client), makeMonths(second)]);
    await second.end();
  });
  await client.query("vacuum analyze");
  while ((await foldListCounts(db, bucketStarts, 500_000)) > 0);
  // The dead rows of the fold would slow down the first lists.
  await client.query("vacuum list_deltas");
}

async function runAll(replica: Archive): Promise<void> {
  while (await replica.runOnce()) {
    const done = (await listMonths(db)).filter(({ nextTryAt }) => !nextTryAt).length;
    console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s: ${done} months done`);
  }
}

/** As the service's jobs do each second. */
async function fold(): Promise<void> {
  while (await foldLists());
  while (await foldMoneyDays(db));
}

async function create(): Promise<void> {
  await insertPayments(db, [paymentInsert({ ...owner, customerEmail: "dora@example.com" })]);
}

async function list(): Promise<void> {
  const { rows: page } = await listPayments(
    db,
    owner,
    { ...everything, status: "succeeded" },
    { limit: 50, offset: 0n },
  );
  assert.equal(page.length, 50);
}

async function assertBooks(): Promise<void> {
  await auditLedger(books, (found) => assert.fail(JSON.stringify(found)));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** @returns median, ms */
async function measure(name: string, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  // The first ones fill caches.
  for (let i = 0; i < 1_050; i++) times.push(await timeOf(work));
  const counted = times.slice(50);
  console.log(summary(name, counted));
  return percentile(counted, 0.5);
}

function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))] ?? 0;
}

function summary(name: string, times: readonly number[]): string {
  const at = (share: number) => percentile(times, share).toFixed(1);
  return `${name}: p50 ${at(0.5)} ms · p99 ${at(0.99)} ms · longest ${at(1)} ms`;
}

async function bytesOf(client: pg.Client): Promise<number> {
  const { rows: found } = await client.query<{ bytes: string }>("select pg_database_size(current_database()) as bytes");
  return Number(found[0]?.bytes);
}

/** Free space within tables. */
async function freeBytes(client: pg.Client): Promise<number> {
  await client.query("create extension if not exists pg_freespacemap");
  const { rows: found } = await client.query<{ bytes: string }>(
    `select sum(f.avail) as bytes from pg_class c, pg_freespace(c.oid) f
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
  );
  return Number(found[0]?.bytes);
}

function gb(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

function bigText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
