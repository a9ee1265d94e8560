// `npm run prove -- lists`: the lists at size. Loads millions of payments, and as many sessions, half of them of one
// merchant, each kind into a PostgreSQL of its own (fsync on), and prints p50 and p99 of pages with their exact totals,
// while another connection inserts and the counts are folded, next to a read by primary key in the same run. The cost
// of writes, which removes indexes, is left out when the rows are kept.
import { rm } from "node:fs/promises";
import { loadavg } from "node:os";
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
import { insertPaymentRows, type PaymentRows } from "../harness/payments/payment-rows.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { watchBackend } from "./backend-cpu.ts";
import { type ListQuery, listQueries } from "./list-queries.ts";
import { loadPayments } from "./list-rows.ts";
import { sessionListQueries } from "./list-session-queries.ts";
import { insertSessionRows, loadSessions } from "./list-session-rows.ts";
import { writeCost } from "./list-writes.ts";

helpIfAsked(`npm run prove -- lists [--rows N] [--runs N] [--only payments|sessions] [--name part] [--data folder]

  --rows  payments, and sessions, 10000 to 50000000; default 10000000
  --runs  of each query, 30 to 1000; default 100
  --only  one of the two databases; default: both, one after the other
  --name  only the queries whose name has this in it
  --data  keeps the filled database there for the next run; default: a folder that is removed`);
const { values } = parseWords({
  options: {
    rows: { type: "string", default: "10000000" },
    runs: { type: "string", default: "100" },
    only: { type: "string" },
    name: { type: "string", default: "" },
    data: { type: "string" },
  },
});
const rows = bounded("--rows", values.rows, 10_000, 50_000_000);
const runs = bounded("--runs", values.runs, 30, 1_000);

if (values.only !== undefined && !["payments", "sessions"].includes(values.only)) {
  throw new Error("--only takes payments or sessions");
}

/** A table at size. */
interface Subject {
  readonly table: "payments" | "sessions";
  /** Whose database has it. */
  readonly service: "payments" | "checkout";
  readonly load: typeof loadPayments;
  readonly insert: (client: pg.Client, rows: PaymentRows) => Promise<void>;
  readonly queries: (db: Database) => readonly ListQuery[];
  readonly writeCost?: typeof writeCost;
}

const subjects: readonly Subject[] = [
  {
    ...{ table: "payments", service: "payments", load: loadPayments, insert: insertPaymentRows, queries: listQueries },
    writeCost,
  },
  {
    ...{ table: "sessions", service: "checkout", load: loadSessions, insert: insertSessionRows },
    queries: sessionListQueries,
  },
];

const kept = values.data ?? (await tempDir("bench-lists"));
const log = createLog("bench", "warn");
try {
  for (const subject of subjects.filter(({ table }) => values.only === undefined || values.only === table)) {
    await measure(subject);
  }
} finally {
  if (values.data === undefined) await rm(kept, { recursive: true, force: true });
}

async function measure(subject: Subject): Promise<void> {
  const { table, load } = subject;
  // Loaded without fsync, measured with it.
  await onServer(subject, false, async (_db, client) => {
    const [{ stored }] = (await client.query(`select count(*)::text as stored from ${table}`)).rows;
    if (stored === "0") await load(client, rows, (line) => console.log(line));
    else console.log(`${stored} ${table} are there already`);
  });
  await onServer(subject, true, async (db, client, url) => {
    // One connection, whose process is watched.
    const reader = await Database.open({ url, name: "bench", log, connectionsMax: 1 });
    await report(subject, db, client, reader).finally(() => reader.close());
    if (values.data === undefined) await subject.writeCost?.(db, client);
  });
}

async function onServer(
  { table, service }: Subject,
  isDurable: boolean,
  work: (db: Database, client: pg.Client, url: string) => Promise<void>,
): Promise<void> {
  const home = join(kept, table);
  const options = { home, port: await freePort(), password: "bench", isDurable };
  const server = await startPostgres({ ...options, logPath: join(kept, `${table}.log`) });
  try {
    await migrate({ databaseUrl: server.url, service });
    const db = await Database.open({ url: server.url, name: "bench", log });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await work(db, client, server.url);
    } finally {
      await client.end();
      await db.close();
    }
  } finally {
    await server.stop();
  }
}

async function report(
  { table, queries, insert }: Subject,
  db: Database,
  client: pg.Client,
  reader: Database,
): Promise<void> {
  const [stored] = (await client.query(`select id from ${table} where merchant_id = 'mer_big' limit 1`)).rows;
  const jobs = startJobs([listCountsJob(db)], log);
  const writer = writeMeanwhile((row) => insert(client, row));
  try {
    const read = async () => {
      await reader.rows(`select * from ${table} where id = $1`, [stored.id]);
    };
    const cpu = await watchBackend(reader);
    const base = await timesOf(read, 500, cpu);
    console.log(`\n${"read by primary key".padEnd(62)} ${describe(base)}  load average ${load1()}`);
    for (const query of queries(reader).filter(({ name }) => name.includes(values.name))) {
      await time(query, base, cpu);
    }
  } finally {
    const written = await writer.stop();
    await jobs.stop();
    console.log(`\nmeanwhile ${written} ${table} were inserted; load average ${load1()}`);
  }
}

async function time(query: ListQuery, base: Times, cpu: () => number): Promise<void> {
  try {
    const total = await query.run(0);
    const times = await timesOf(async (i) => void (await query.run(i)), Math.min(runs, query.runsMax ?? runs), cpu);
    const ratio = `${Math.round(times.p50 / base.p50)} × the read`;
    console.log(`${query.name.padEnd(62)} ${describe(times)}  ${ratio.padStart(16)}  total ${total}`);
  } catch (error) {
    if (!isCanceled(error)) throw error;
    console.log(`${query.name.padEnd(62)} canceled by the limit on a statement's time`);
  }
}

/** Of the last minute: figures of a busy machine must say so. */
function load1(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/** SQLSTATE of a statement that ran into its time limit. */
function isCanceled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

/** Others insert, a few rows at a time. */
function writeMeanwhile(insert: (rows: PaymentRows) => Promise<void>): { stop(): Promise<number> } {
  let [stopped, written] = [false, 0];
  const perStatement = 5;
  const done = (async () => {
    // No run before, on kept rows, had this number or a later one.
    for (let batch = Date.now(); !stopped; batch++) {
      const until = new Date();
      await insert({ merchantId: `mer_${batch % 100}`, count: perStatement, days: 0.01, until, batch });
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

/** Milliseconds. */
interface Times {
  readonly p50: number;
  readonly p99: number;
  /** Of the server's process alone. */
  readonly cpu: { readonly p50: number; readonly p99: number };
}

/** After two unmeasured runs. */
async function timesOf(run: (i: number) => Promise<void>, count: number, cpu: () => number): Promise<Times> {
  const times: number[] = [];
  const used: number[] = [];
  for (let i = -2; i < count; i++) {
    const [began, usedBefore] = [performance.now(), cpu()];
    await run(i + 2);
    if (i < 0) continue;
    times.push(performance.now() - began);
    used.push(cpu() - usedBefore);
  }
  return { ...percentiles(times), cpu: percentiles(used) };
}

function percentiles(numbers: readonly number[]): { p50: number; p99: number } {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function describe({ p50, p99, cpu }: Times): string {
  const ms = (n: number) => n.toFixed(1).padStart(7);
  return `p50 ${ms(p50)} ms  p99 ${ms(p99)} ms  CPU ${ms(cpu.p50)}, ${ms(cpu.p99)} ms`;
}

function bounded(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} takes ${min} to ${max}`);
  return value;
}
