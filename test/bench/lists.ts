// `npm run prove -- lists`: the payments list at size. Loads millions of payments, half of them of one merchant, into a
// PostgreSQL of its own (fsync on), and prints p50 and p99 of pages with their exact totals, while another connection
// inserts and the counts are folded, next to a read by primary key in the same run. The cost of writes, which removes
// indexes, is left out when the rows are kept.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { Database } from "#platform/database/database.ts";
import { migrate } from "#platform/database/migrate.ts";
import { startJobs } from "#platform/jobs/job.ts";
import { listCountsJob } from "#platform/lists/list-counts.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { insertPaymentRows } from "../harness/payment-rows.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { listQueries } from "./list-queries.ts";
import { loadPayments } from "./list-rows.ts";
import { writeCost } from "./list-writes.ts";

helpIfAsked(`npm run prove -- lists [--rows N] [--runs N] [--data folder]

  --rows  payments, 10000 to 50000000; default 10000000
  --runs  of each query, 30 to 1000; default 100
  --data  keeps the filled database there for the next run; default: a folder that is removed`);
const { values } = parseWords({
  options: {
    rows: { type: "string", default: "10000000" },
    runs: { type: "string", default: "100" },
    data: { type: "string" },
  },
});
const rows = bounded("--rows", values.rows, 10_000, 50_000_000);
const runs = bounded("--runs", values.runs, 30, 1_000);

const home = values.data ?? (await tempDir("bench-lists"));
const log = createLog("bench", "warn");
try {
  // Loaded without fsync, measured with it.
  await onServer(false, async (_db, client) => {
    const [{ stored }] = (await client.query("select count(*)::text as stored from payments")).rows;
    if (stored === "0") await loadPayments(client, rows, (line) => console.log(line));
    else console.log(`${stored} payments are there already`);
  });
  await onServer(true, async (db, client) => {
    await report(db, client);
    if (values.data === undefined) await writeCost(db, client);
  });
} finally {
  if (values.data === undefined) await rm(home, { recursive: true, force: true });
}

async function onServer(isDurable: boolean, work: (db: Database, client: pg.Client) => Promise<void>): Promise<void> {
  const logPath = join(home, "postgres.log");
  const server = await startPostgres({ home, port: await freePort(), password: "bench", isDurable, logPath });
  try {
    await migrate({ databaseUrl: server.url, service: "payments" });
    const db = await Database.open({ url: server.url, name: "bench", log });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await work(db, client);
    } finally {
      await client.end();
      await db.close();
    }
  } finally {
    await server.stop();
  }
}

async function report(db: Database, client: pg.Client): Promise<void> {
  const [stored] = (await client.query("select id from payments where merchant_id = 'mer_big' limit 1")).rows;
  const jobs = startJobs([listCountsJob(db)], log);
  const writer = writeMeanwhile(client);
  try {
    const read = async () => {
      await db.rows("select * from payments where id = $1", [stored.id]);
    };
    const base = await timesOf(read, 500);
    console.log(`\n${"read by primary key".padEnd(62)} ${describe(base)}`);
    for (const query of listQueries(db)) {
      try {
        const total = await query.run(0);
        const times = await timesOf(async (i) => void (await query.run(i)), Math.min(runs, query.runsMax ?? runs));
        const ratio = `${Math.round(times.p50 / base.p50)} × the read`;
        console.log(`${query.name.padEnd(62)} ${describe(times)}  ${ratio.padStart(16)}  total ${total}`);
      } catch (error) {
        if (!isCanceled(error)) throw error;
        console.log(`${query.name.padEnd(62)} canceled by the limit on a statement's time`);
      }
    }
  } finally {
    const written = await writer.stop();
    await jobs.stop();
    console.log(`\nmeanwhile ${written} payments were inserted`);
  }
}

/** SQLSTATE of a statement that ran into its time limit. */
function isCanceled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

/** Others insert, a few payments at a time. */
function writeMeanwhile(client: pg.Client): { stop(): Promise<number> } {
  let [stopped, written] = [false, 0];
  const perStatement = 5;
  const done = (async () => {
    // No run before, on kept rows, had this number or a later one.
    for (let batch = Date.now(); !stopped; batch++) {
      const until = new Date();
      await insertPaymentRows(client, {
        merchantId: `mer_${batch % 100}`,
        count: perStatement,
        days: 0.01,
        until,
        batch,
      });
      written += perStatement;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await done;
      return written;
    },
  };
}

interface Times {
  readonly p50: number;
  readonly p99: number;
}

/** Milliseconds, after two unmeasured runs. */
async function timesOf(run: (i: number) => Promise<void>, count: number): Promise<Times> {
  const times: number[] = [];
  for (let i = -2; i < count; i++) {
    const began = performance.now();
    await run(i + 2);
    if (i >= 0) times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function describe({ p50, p99 }: Times): string {
  return `p50 ${p50.toFixed(1).padStart(7)} ms  p99 ${p99.toFixed(1).padStart(7)} ms`;
}

function bounded(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} takes ${min} to ${max}`);
  return value;
}
