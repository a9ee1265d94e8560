// `npm run bench -- capacity`: whole orders, and the resources for 10, 100 and 1,000 of them per second. An order is a
// session that is created, opened by its buyer, paid, confirmed and read once by the merchant, whose endpoint gets its
// webhook; one in ten is refunded.
import type { ChildProcess } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { sources } from "../../services/services.ts";
import { eventually } from "../harness/eventually.ts";
import { optionsOf } from "../harness/options.ts";
import { onBenchStack } from "./bench-stack.ts";
import { growthTable, needsTable, type OrderCost, orderCostTable } from "./capacity-table.ts";
import { measureLoad } from "./load.ts";
import { openShop, type Shop } from "./shop.ts";
import { analyzeAll, connectSuperuser } from "./statistics.ts";
import { cpuOf, residentMb } from "./usage.ts";
import type { ReceiverReport } from "./webhook-receiver.ts";
import { startChild } from "./webhook-rig.ts";

printHelpIfRequested(`npm run bench -- capacity [--seconds N] [--warm N]

  --seconds  of each measurement, 5 to 300; default 20
  --warm     seconds of the same load before each, 1 to 60; default 8`);
const { seconds, warm: warmSeconds } = optionsOf({
  seconds: { fallback: 20, least: 5, most: 300, isFraction: true },
  warm: { fallback: 8, least: 1, most: 60, isFraction: true },
});

const refundEvery = 10;
const sampleMs = 50;
const deliveryMsMax = 60_000;
/** The card processor is somewhere else in production. */
const elsewhere = "tollbooth_simulator";

const children: ChildProcess[] = [];
try {
  await onBenchStack(report);
} finally {
  for (const child of children) child.disconnect();
}

async function report({ stack }: RunningStack, stateDir: string): Promise<void> {
  const admin = await connectSuperuser(stack.database);
  const { child, ready } = await startChild(
    "test/bench/webhook-receiver.ts",
    { TLS_CERT: stack.tls.cert, TLS_KEY: stack.tls.key },
    children,
  );
  let deliveredCount = 0;
  child.on("message", ({ count }: ReceiverReport) => (deliveredCount = count ?? deliveredCount));
  const shop = await openShop(stack);
  const endpoint = {
    url: `https://localhost:${ready.port}/ok`,
    event_types: ["payment.succeeded", "refund.succeeded"],
  };
  (await shop.merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const sales = salesOf(shop);
  console.log(`Whole orders, separate processes, ${cpus().length} cores on which everything runs, ${seconds} s each\n`);
  const [alone, many] = [await costAt(1), await costAt(32)];
  console.log(`${orderCostTable(alone, many)}\n\n${needsTable(alone, many)}\n\n${growthTable(many)}`);
  await admin.end();
  await shop.close();

  async function costAt(connections: number): Promise<OrderCost> {
    const drive = (forSeconds: number) =>
      measureLoad({ connections, seconds: forSeconds, next: () => () => sales.order() });
    await drive(warmSeconds);
    await analyzeAll(stack.database);
    await waitForDeliveries();
    const before = await readCounters();
    const busy = sampleBusy(admin);
    const { count, perSecond, p50Ms } = await drive(seconds);
    const connectionsBusy = await busy();
    await waitForDeliveries();
    const after = await readCounters();
    const each = (of: (at: typeof after) => number) => (of(after) - of(before)) / count;
    const eachOf = (of: (at: typeof after) => Readonly<Record<string, number>>) =>
      Object.fromEntries(Object.keys(of(after)).map((name) => [name, each((at) => of(at)[name] ?? 0)]));
    return {
      perSecond,
      p50Ms,
      cpuUs: eachOf(({ cpuUs }) => cpuUs),
      connectionMs: (1_000 * connectionsBusy) / perSecond,
      logBytes: each(({ logBytes }) => logBytes),
      flushes: each(({ flushes }) => flushes),
      tableBytes: eachOf(({ tableBytes }) => tableBytes),
      streamBytes: eachOf(({ streamBytes }) => streamBytes),
      megabytes: Object.fromEntries(Object.entries(stack.pids).map(([component, pid]) => [component, residentMb(pid)])),
    };
  }

  /** Of everything that is to come for an order, this is the last. */
  async function waitForDeliveries(): Promise<void> {
    const limits = { limitMs: deliveryMsMax, everyMs: 100 };
    await eventually("every order's webhook", async () => deliveredCount >= sales.events, limits);
  }

  async function readCounters() {
    const { rows } = await admin.query<{ log: string; flushes: string; pids: number[] | null }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as log,
         coalesce((select sum(fsyncs) from pg_stat_io where object = 'wal'),
           (select (to_jsonb(w) ->> 'wal_sync')::bigint from pg_stat_wal w)) as flushes,
         (select array_agg(pid) from pg_stat_activity where datname = $1) as pids`,
      [elsewhere],
    );
    const [row] = rows;
    const others = cpuOf(Object.fromEntries((row?.pids ?? []).map((pid) => [String(pid), pid])));
    const used = cpuOf(stack.pids);
    const elsewhereUs = Object.values(others).reduce((sum, us) => sum + us, 0);
    const cpuUs: Record<string, number> = { postgres: (used.postgres ?? 0) - elsewhereUs };
    for (const component of ["gateway", "checkout", "payments", "merchant", "webhook", "nats"]) {
      cpuUs[component] = used[component] ?? 0;
    }
    return {
      cpuUs,
      tableBytes: await tableBytes(stack),
      logBytes: Number(row?.log),
      flushes: Number(row?.flushes),
      streamBytes: streamBytes(join(stateDir, "nats")),
    };
  }
}

/** Whole orders at this shop; `events` is the number of webhooks to expect so far. */
function salesOf(shop: Shop) {
  let made = 0;
  const sales = { events: 0, order };
  return sales;

  async function order(): Promise<void> {
    const number = made++;
    const payment = await shop.sale();
    sales.events += 1;
    if (number % refundEvery !== 0) return;
    await shop.send(shop.refund(payment));
    sales.events += 1;
  }
}

/** @returns ends the sampling with the mean number of the product's connections that were running a statement */
function sampleBusy(admin: pg.Client): () => Promise<number> {
  const samples: Promise<number>[] = [];
  const timer = setInterval(() => {
    const pending = admin.query<{ n: string }>(
      `select count(*) as n from pg_stat_activity
       where state = 'active' and backend_type = 'client backend' and datname <> $1 and pid <> pg_backend_pid()`,
      [elsewhere],
    );
    samples.push(pending.then(({ rows }) => Number(rows[0]?.n)));
  }, sampleMs);
  return async () => {
    clearInterval(timer);
    const counts = await Promise.all(samples);
    return counts.reduce((sum, n) => sum + n, 0) / Math.max(1, counts.length);
  };
}

/** Bytes of each service's tables with their indexes; the days of one table together. */
async function tableBytes(stack: StackInfo): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {};
  for (const service of sources) {
    const client = await connectSuperuser(databaseUrlOf(stack.database, service));
    const { rows } = await client.query<{ name: string; bytes: string }>(
      `select regexp_replace(relname, '_\\d[\\d_]*$', '') as name, sum(pg_total_relation_size(oid)) as bytes
       from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`,
    );
    await client.end();
    for (const row of rows) bytes[`${service}.${row.name}`] = Number(row.bytes);
  }
  return bytes;
}

/** Bytes of each stream's files, by its source. */
function streamBytes(store: string): Record<string, number> {
  const bytes: Record<string, number> = {};
  for (const entry of readdirSync(store, { recursive: true, withFileTypes: true })) {
    const source = /\/streams\/[^/]*-(\w+)\/msgs$/.exec(entry.parentPath)?.[1];
    if (source === undefined || !entry.isFile()) continue;
    bytes[source] = (bytes[source] ?? 0) + statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
