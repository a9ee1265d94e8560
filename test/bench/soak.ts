// `npm run prove -- soak --minutes 60`: a stack of its own under whole orders at a fixed rate. Every minute it records
// latency, memory, handles, connections, bytes and what waits. At the end it compares the last third with the first,
// checks the books and that the endpoint was notified of every payment. Exit code 1 when something grew that should be
// flat.
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { checkBooks } from "../../deploy/cli/health/journal.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { sources } from "../../services/services.ts";
import { eventually } from "../harness/eventually.ts";
import { optionsOf } from "../harness/options.ts";
import { onBenchStack } from "./bench-stack.ts";
import { quantileOf } from "./load.ts";
import { inParallel, openShop, type Shop } from "./shop.ts";
import { describeGrowth, type Minute } from "./soak-growth.ts";
import { connectSuperuser } from "./statistics.ts";
import { residentMb } from "./usage.ts";
import { startChild } from "./webhook-rig.ts";

printHelpIfRequested(`npm run prove -- soak [--minutes N] [--rate N]

  --minutes  3 to 1440; default 60
  --rate     orders a second, 1 to 100; default 10`);
const { minutes, rate } = optionsOf({
  minutes: { fallback: 60, least: 3, most: 1_440 },
  rate: { fallback: 10, least: 1, most: 100, isFraction: true },
});

const parts = ["gateway", "checkout", "payments", "merchant", "webhook"] as const;
// Orders under way; more means that the machine cannot do the rate, and the load waits.
const connections = 64;
const warmSeconds = 30;
const refundEvery = 4;
const deliveredMsMax = 120_000;

const children: ChildProcess[] = [];
try {
  await onBenchStack(soak);
} finally {
  for (const child of children) child.disconnect();
}

async function soak({ stack }: RunningStack): Promise<void> {
  const tls = { TLS_CERT: stack.tls.cert, TLS_KEY: stack.tls.key };
  const { ready } = await startChild("test/bench/webhook-receiver.ts", tls, children);
  const shop = await openShop(stack);
  const endpoint = { url: `https://localhost:${ready.port}/ok`, event_types: ["payment.succeeded"] };
  (await shop.merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const databases = new Map<string, pg.Client>();
  for (const name of sources) databases.set(name, await connectSuperuser(databaseUrlOf(stack.database, name)));
  const empty = await bytesNow(databases);
  const orders = paced(shop);
  await orders.drive(warmSeconds);
  const rows: Minute[] = [];
  while (rows.length < minutes) {
    const row = { ...(await orders.drive(60)), ...processesNow(stack), ...(await databasesNow(databases, empty)) };
    rows.push(row);
    const memory = Object.entries(row.megabytes).map(([component, mb]) => `${component} ${mb}`);
    console.log(
      `minute ${rows.length}: p50 ${Math.round(row.p50Ms)} ms, p99 ${Math.round(row.p99Ms)} ms; MB: ${memory.join(" · ")}`,
    );
  }
  const problems = [...describeGrowth(rows), ...(await differences(stack, databases, orders.paid))];
  for (const problem of problems) console.log(`DIFFERENCE ${problem}`);
  console.log(`${orders.paid} payments, ${problems.length} differences`);
  process.exitCode = problems.length === 0 ? 0 : 1;
  for (const client of databases.values()) await client.end();
  await shop.close();
}

/** Whole orders at the rate, whatever the answers' speed. */
function paced(shop: Shop) {
  const orders = {
    paid: 0,
    async drive(seconds: number) {
      const began = performance.now();
      const times: number[] = [];
      await inParallel(Math.round(rate * seconds), connections, async (i) => {
        await pause(Math.max(0, began + (i * 1_000) / rate - performance.now()));
        const startedAt = performance.now();
        const payment = await shop.sale();
        times.push(performance.now() - startedAt);
        orders.paid += 1;
        if (orders.paid % refundEvery === 0) await shop.send(shop.refund(payment));
      });
      times.sort((one, other) => one - other);
      return { p50Ms: quantileOf(times, 0.5), p99Ms: quantileOf(times, 0.99) };
    },
  };
  return orders;
}

function processesNow({ pids }: StackInfo): Pick<Minute, "megabytes" | "handles"> {
  const each = (read: (pid: number) => number) =>
    Object.fromEntries(parts.map((name) => [name, read(pids[name] ?? 0)]));
  return { megabytes: each(residentMb), handles: each((pid) => readdirSync(`/proc/${pid}/fd`).length) };
}

async function databasesNow(
  databases: ReadonlyMap<string, pg.Client>,
  emptyBytes: number,
): Promise<Pick<Minute, "connections" | "bytesPerPayment" | "waiting">> {
  const [payments, webhook] = [databases.get("payments"), databases.get("webhook")];
  const connected = "select count(*) as n from pg_stat_activity where application_name like 'tollbooth-%'";
  const grownBytes = (await bytesNow(databases)) - emptyBytes;
  return {
    connections: await numberOf(payments, connected),
    bytesPerPayment: grownBytes / Math.max(1, await numberOf(payments, "select count(*) as n from payments")),
    waiting: await numberOf(webhook, "select count(*) as n from delivery_queue"),
  };
}

async function bytesNow(databases: ReadonlyMap<string, pg.Client>): Promise<number> {
  const sizes = [...databases.values()].map((each) =>
    numberOf(each, "select pg_database_size(current_database()) as n"),
  );
  return (await Promise.all(sizes)).reduce((sum, n) => sum + n, 0);
}

async function numberOf(client: pg.Client | undefined, statement: string): Promise<number> {
  return Number((await client?.query<{ n: string }>(statement))?.rows[0]?.n);
}

/** In the books, and in what the endpoint was notified of. */
async function differences(
  stack: StackInfo,
  databases: ReadonlyMap<string, pg.Client>,
  paid: number,
): Promise<string[]> {
  const wrong: string[] = [];
  const url = databaseUrlOf(stack.database, "payments");
  const checked = await checkBooks({ DATABASE_URL: url }, ({ about, differences: found }) =>
    wrong.push(...found.map((difference) => `${about}: ${difference}`)),
  );
  if (checked < paid) wrong.push(`${paid} orders were paid, ${checked} payments are in the books`);
  const delivered = "select count(distinct payment_id) as n from deliveries where state = 'delivered'";
  const isDelivered = async () => (await numberOf(databases.get("webhook"), delivered)) >= paid;
  const limits = { limitMs: deliveredMsMax, everyMs: 1_000 };
  await eventually("a delivery of every payment", isDelivered, limits).catch((error: Error) =>
    wrong.push(error.message),
  );
  return wrong;
}
