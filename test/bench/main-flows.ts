// `npm run bench`: drives the main flows of a stack of its own over HTTP with 1 and 32 connections and prints rates,
// latencies, CPU per request of each process, and the ratio to two limits measured in the same run: a bare Fastify
// answer, and the same writes said straight to PostgreSQL (fsync on).
import { cpus } from "node:os";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { shapeOfRun } from "../harness/stack.ts";
import { openBareHttp } from "./bare-http.ts";
import { bareSql } from "./bare-sql.ts";
import { onBenchStack } from "./bench-stack.ts";
import { costLines, watchCost } from "./cost.ts";
import { type Measured, measure, type Request } from "./load.ts";
import { preload } from "./preload.ts";
import { inParallel, openShop } from "./shop.ts";
import { watchStatements } from "./statements.ts";
import { analyzeAll } from "./statistics.ts";
import { residentMb } from "./usage.ts";

helpIfAsked(`npm run bench -- [flows] [--seconds N] [--warm N] [--connections 1,32] [--only create,refund] [--statements]
                                [--preload N]

  --seconds      of each measurement, 1 to 60; default 5
  --warm         seconds of the same load before each measurement over HTTP, 1 to 60; default 5
  --connections  numbers from 1 to 64, separated by commas; default 1,32
  --only         measurements whose names begin so; default: all
  --statements   PostgreSQL's costliest besides
  --preload      payments, and sessions, that are there already, 10000 to 50000000; default: none. Ten million of each
                 took 47 minutes on two cores, beside other work

  TOLLBOOTH_SHAPE=one  a stack whose parts share one process`);
const { values } = parseWords({
  options: {
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "1,32" },
    warm: { type: "string", default: "5" },
    only: { type: "string" },
    statements: { type: "boolean", default: false },
    preload: { type: "string" },
  },
});
const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 60)) throw new Error("--seconds takes 1 to 60");
const warmSeconds = Number(values.warm);
if (!(warmSeconds >= 1 && warmSeconds <= 60)) throw new Error("--warm takes 1 to 60");
const connectionCounts = values.connections.split(",").map(Number);
if (!connectionCounts.every((n) => n >= 1 && n <= 64)) throw new Error("--connections takes numbers from 1 to 64");
const preloaded = Number(values.preload ?? 0);
if (values.preload !== undefined && !(Number.isInteger(preloaded) && preloaded >= 10_000 && preloaded <= 50_000_000)) {
  throw new Error("--preload takes 10000 to 50000000");
}
const only = values.only?.split(",");
const isWanted = (name: string) => !only || only.some((wanted) => name.startsWith(wanted));

const shape = shapeOfRun();
console.log(
  `Main flows, ${shape === "one" ? "one process" : "separate processes"}, ${seconds} s per measurement, everything on this machine's ${cpus().length} cores\n`,
);
await onBenchStack(report, { shape });

async function report(running: RunningStack): Promise<void> {
  const { stack } = running;
  if (preloaded > 0) await preload(stack, preloaded, console.log);
  const statements = values.statements ? await watchStatements(running) : undefined;
  const cost = await watchCost(stack);
  const memory = () =>
    Object.entries(stack.pids)
      .map(([name, pid]) => `${name} ${residentMb(pid)}`)
      .join(" · ");
  show("resident memory, idle, MB", memory());
  const shop = await openShop(stack);
  const bare = await openBareHttp();
  for (const connections of connectionCounts) {
    console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`);
    const answers = await measure({ connections, seconds, next: () => () => bare.answer(shop.order()) });
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
  await statements?.close();
  await cost.close();
  await bare.close();
  await shop.close();

  async function drive(
    name: string,
    connections: number,
    next: () => Request | undefined,
    limit?: Measured,
  ): Promise<void> {
    if (!isWanted(name)) return;
    const load = () => shop.sending(next());
    // A new process spends several times as much on a request as a warm one.
    await measure({ connections, seconds: warmSeconds, next: load });
    await analyzeAll(stack.database);
    await statements?.reset();
    const costOf = await cost.begin();
    const measured = await measure({ connections, seconds, next: load });
    const each = await costOf(measured.count);
    print(name, measured, limit);
    for (const [what, value] of costLines(each)) show(`    ${what}`, value);
    for (const line of (await statements?.costliest(measured.count)) ?? []) console.log(`      ${line}`);
  }
}

function print(name: string, measured: Measured, limit?: Measured): void {
  const ratio = limit ? ` · ${Math.round((measured.perSecond / limit.perSecond) * 100)} % of bare SQL` : "";
  show(
    `  ${name}`,
    `${rate(measured)}/s · p50 ${measured.p50Ms.toFixed(1)} ms · p99 ${measured.p99Ms.toFixed(1)} ms${ratio}`,
  );
}

function rate(measured: Measured): string {
  return measured.perSecond.toFixed(measured.perSecond < 100 ? 1 : 0);
}

function show(what: string, value: string): void {
  console.log(`${what.padEnd(40)} ${value}`);
}
