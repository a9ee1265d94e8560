// `npm run bench`: drives the main flows of its own stack over HTTP with 1 and 32 connections and prints rates,
// latencies, CPU per request of each process, and the ratio to two limits measured in the same run: a bare Fastify
// answer, and the same writes straight to PostgreSQL (fsync on).
import { cpus } from "node:os";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { optionsOf } from "../harness/options.ts";
import { shapeOfRun } from "../harness/stack.ts";
import { openBareHttp } from "./bare-http.ts";
import { bareSql } from "./bare-sql.ts";
import { onBenchStack } from "./bench-stack.ts";
import { type LoadResult, measureLoad, type Request } from "./load.ts";
import { inParallel, openShop } from "./shop.ts";
import { analyzeAll } from "./statistics.ts";
import { cpuOf, residentMb } from "./usage.ts";

printHelpIfRequested(`npm run bench -- [flows] [--seconds N] [--warm N] [--connections 1,32] [--only create,refund]

  --seconds      of each measurement, 1 to 60; default 5
  --warm         seconds of the same load before each measurement over HTTP, 1 to 60; default 5
  --connections  numbers from 1 to 64, separated by commas; default 1,32
  --only         measurements whose names begin so; default: all

  TOLLBOOTH_SHAPE=one  a stack whose parts share one process`);
const {
  seconds,
  warm: warmSeconds,
  ...words
} = optionsOf(
  {
    seconds: { fallback: 5, least: 1, most: 60, isFraction: true },
    warm: { fallback: 5, least: 1, most: 60, isFraction: true },
  },
  "connections",
  "only",
);
const connectionCounts = (words.connections ?? "1,32").split(",").map(Number);
if (!connectionCounts.every((n) => n >= 1 && n <= 64)) throw new Error("--connections takes numbers from 1 to 64");
const only = words.only?.split(",");
const isWanted = (name: string) => !only || only.some((wanted) => name.startsWith(wanted));

const shape = shapeOfRun();
console.log(
  `Main flows, ${shape === "one" ? "one process" : "separate processes"}, ${seconds} s per measurement, everything on this machine's ${cpus().length} cores\n`,
);
await onBenchStack(report, { shape });

async function report({ stack }: RunningStack): Promise<void> {
  const memory = () =>
    Object.entries(stack.pids)
      .map(([name, pid]) => `${name} ${residentMb(pid)}`)
      .join(" · ");
  show("resident memory, idle, MB", memory());
  const shop = await openShop(stack);
  const bare = await openBareHttp();
  for (const connections of connectionCounts) {
    console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`);
    const answers = await measureLoad({ connections, seconds, next: () => () => bare.answer(shop.order()) });
    print("bare Fastify answer (limit)", answers);
    const sql = await bareSql(stack.database, connections, seconds, warmSeconds);
    show(
      "  same writes by bare SQL (limit), /s",
      `create ${rate(sql.create)} · confirm ${rate(sql.confirm)} · refund ${rate(sql.refund)}`,
    );
    await drive("create session", connections, shop.create, sql.create);
    const budget = Math.ceil((seconds + warmSeconds) * (connections === 1 ? 120 : 300));
    const toConfirm = await shop.paidSessions(budget);
    const confirmed: Request[] = [...toConfirm];
    await drive("confirm", connections, () => toConfirm.pop(), sql.confirm);
    const payments: string[] = [];
    await inParallel(Math.min(confirmed.length, 500), 16, async (i) => {
      const request = confirmed[i];
      if (request) payments.push(JSON.parse(await shop.send(request)).payment_id);
    });
    let turn = 0;
    const some = () => payments[turn++ % payments.length] ?? "";
    await drive("get payment", connections, () => ({ method: "GET", path: `/v1/payments/${some()}` }));
    await drive("resolve session", connections, () => {
      const path = confirmed[turn++ % confirmed.length]?.path.replace("/confirm", "") ?? "";
      return { method: "GET", path, headers: {} };
    });
    await drive("list payments (50)", connections, () => ({ method: "GET", path: "/v1/payments" }));
    await drive("refund 1 unit", connections, () => shop.refund(some()), sql.refund);
  }
  show("\nresident memory after the load, MB", memory());
  await bare.close();
  await shop.close();

  async function drive(
    name: string,
    connections: number,
    next: () => Request | undefined,
    limit?: LoadResult,
  ): Promise<void> {
    if (!isWanted(name)) return;
    const load = () => shop.sending(next());
    // A new process spends several times as much on a request as a warm one.
    await measureLoad({ connections, seconds: warmSeconds, next: load });
    await analyzeAll(stack.database);
    const before = cpuOf(stack.pids);
    const measured = await measureLoad({ connections, seconds, next: load });
    const each = Object.entries(cpuOf(stack.pids)).map(
      ([process, us]) => `${process} ${Math.round((us - (before[process] ?? 0)) / measured.count)}`,
    );
    print(name, measured, limit);
    show("    CPU µs per request", each.join(" · "));
  }
}

function print(name: string, measured: LoadResult, limit?: LoadResult): void {
  const ratio = limit ? ` · ${Math.round((measured.perSecond / limit.perSecond) * 100)} % of bare SQL` : "";
  show(
    `  ${name}`,
    `${rate(measured)}/s · p50 ${measured.p50Ms.toFixed(1)} ms · p99 ${measured.p99Ms.toFixed(1)} ms${ratio}`,
  );
}

function rate(measured: LoadResult): string {
  return measured.perSecond.toFixed(measured.perSecond < 100 ? 1 : 0);
}

function show(what: string, value: string): void {
  console.log(`${what.padEnd(40)} ${value}`);
}
