// `npm run bench`: drives the main flows of a stack of its own over HTTP with 1 and 32 connections and prints rates,
// latencies, CPU per request of each process, and the ratio to two limits measured in the same run: a bare Fastify
// answer, and the same writes said straight to PostgreSQL (fsync on).
import { rm } from "node:fs/promises";
import { Pool } from "undici";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import { startStack } from "../../deploy/local/start.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { shapeOfRun } from "../harness/stack.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { bareSql } from "./bare-sql.ts";
import { cpuOf, residentMb } from "./cpu.ts";
import { type Measured, measure, type Request } from "./load.ts";
import { watchStatements } from "./statements.ts";
import { analyzeAll } from "./statistics.ts";

helpIfAsked(`npm run bench -- [flows] [--seconds N] [--warm N] [--connections 1,32] [--only create,refund] [--statements]

  --seconds      of each measurement, 1 to 60; default 5
  --warm         seconds of the same load before each measurement over HTTP, 1 to 60; default 5
  --connections  numbers from 1 to 64, separated by commas; default 1,32
  --only         measurements whose names begin so; default: all
  --statements   PostgreSQL's costliest besides

  TOLLBOOTH_SHAPE=one  a stack whose parts share one process`);
const { values } = parseWords({
  options: {
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "1,32" },
    warm: { type: "string", default: "5" },
    only: { type: "string" },
    statements: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 60)) throw new Error("--seconds takes 1 to 60");
const warmSeconds = Number(values.warm);
if (!(warmSeconds >= 1 && warmSeconds <= 60)) throw new Error("--warm takes 1 to 60");
const connectionCounts = values.connections.split(",").map(Number);
if (!connectionCounts.every((n) => n >= 1 && n <= 64)) throw new Error("--connections takes numbers from 1 to 64");
const only = values.only?.split(",");
const isWanted = (name: string) => !only || only.some((wanted) => name.startsWith(wanted));

const shape = shapeOfRun();
let barePool: Pool | undefined;
const stateDir = await tempDir("bench");
console.log(
  `Main flows, ${shape === "one" ? "one process" : "separate processes"}, ${seconds} s per measurement, everything on this machine's ${(await import("node:os")).cpus().length} cores\n`,
);
const running = await startStack({
  port: 0,
  stateDir,
  quiet: true,
  durable: true,
  shape,
  env: { RATE_LIMIT: "off", LOG_LEVEL: "warn", SIMULATOR_DELAY_MS: "0" },
});
try {
  await report();
} finally {
  await running.stop();
  await rm(stateDir, { recursive: true, force: true });
}

async function report(): Promise<void> {
  const { stack } = running;
  const statements = values.statements ? await watchStatements(running) : undefined;
  const memory = () =>
    Object.entries(stack.pids)
      .map(([name, pid]) => `${name} ${residentMb(pid)}`)
      .join(" · ");
  show("resident memory, idle, MB", memory());
  const merchant = await freshMerchant(stack);
  const gateway = new Pool(stack.gateway, { connections: 64, pipelining: 1 });
  const processor = new Pool(stack.processor, { connections: 16, pipelining: 1 });
  const auth = { authorization: `Bearer ${merchant.apiKey}`, "content-type": "application/json" };
  let orders = 0;
  // Every order has a buyer of its own: risk screening counts sessions per e-mail.
  const order = () => {
    orders += 1;
    const buyer = { customer_email: `buyer${orders}@example.com` };
    return JSON.stringify({ amount: 1050, currency: "EUR", description: "Order 1001", ...buyer });
  };
  const send = async (pool: Pool, request: Request) => {
    const answer = await pool.request({
      method: request.method,
      path: request.path,
      headers: request.headers ?? auth,
      body: request.body ?? null,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${request.path.split("?")[0]}: ${answer.statusCode} ${text}`);
    return text;
  };
  const create = (): Request => ({ method: "POST", path: "/v1/checkout-sessions", body: order() });

  /** Sessions that are paid at the processor and wait for their confirm. */
  const paidSessions = async (count: number): Promise<Request[]> => {
    const made: Request[] = [];
    await inParallel(count, 16, async () => {
      const session = JSON.parse(await send(gateway, create()));
      const form = new URL(session.render.frame_url);
      const card = {
        client_secret: session.render.client_secret,
        number: "4242424242424242",
        exp_month: 12,
        exp_year: 2034,
        cvc: "123",
      };
      await send(processor, {
        method: "POST",
        path: `${form.pathname}/pay`,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(card),
      });
      made.push({
        method: "POST",
        path: `/v1/checkout/${session.id}/confirm?secret=${session.session_secret}`,
        headers: {},
      });
    });
    return made;
  };

  for (const connections of connectionCounts) {
    console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`);
    const bare = await measure({ connections, seconds, next: () => () => bareAnswer(order()) });
    print("bare Fastify answer (limit)", bare);
    const sql = await bareSql(stack.database, connections, seconds, warmSeconds);
    show(
      "  same writes by bare SQL (limit), /s",
      `create ${rate(sql.create)} · confirm ${rate(sql.confirm)} · refund ${rate(sql.refund)}`,
    );
    await drive("create session", connections, create, sql.create);
    const budget = Math.ceil((seconds + warmSeconds) * (connections === 1 ? 120 : 300));
    const toConfirm = await paidSessions(budget);
    const confirmed: Request[] = [...toConfirm];
    await drive("confirm", connections, () => toConfirm.pop(), sql.confirm);
    const payments: string[] = [];
    await inParallel(Math.min(confirmed.length, 500), 16, async (i) => {
      const request = confirmed[i];
      if (request) payments.push(JSON.parse(await send(gateway, request)).payment_id);
    });
    let turn = 0;
    const some = () => payments[turn++ % payments.length] ?? "";
    await drive("get payment", connections, () => ({ method: "GET", path: `/v1/payments/${some()}` }));
    await drive("resolve session", connections, () => {
      const path = confirmed[turn++ % confirmed.length]?.path.replace("/confirm", "") ?? "";
      return { method: "GET", path, headers: {} };
    });
    await drive("list payments (50)", connections, () => ({ method: "GET", path: "/v1/payments" }));
    const refund = () => ({ method: "POST", path: `/v1/payments/${some()}/refunds`, body: '{"amount":1}' }) as const;
    await drive("refund 1 unit", connections, refund, sql.refund);
  }
  show("\nresident memory after the load, MB", memory());
  await statements?.close();
  await gateway.close();
  await processor.close();

  async function drive(
    name: string,
    connections: number,
    next: () => Request | undefined,
    limit?: Measured,
  ): Promise<void> {
    if (!isWanted(name)) return;
    const load = () => {
      const request = next();
      return request && (() => send(gateway, request));
    };
    // A new process spends several times as much on a request as a warm one.
    await measure({ connections, seconds: warmSeconds, next: load });
    await analyzeAll(stack.database);
    await statements?.reset();
    const before = cpuOf(stack.pids);
    const measured = await measure({ connections, seconds, next: load });
    const after = cpuOf(stack.pids);
    print(name, measured, limit);
    const spent = Object.entries(after).map(
      ([process, us]) => `${process} ${Math.round((us - (before[process] ?? 0)) / measured.count)}`,
    );
    show("    CPU µs per request", spent.join(" · "));
    for (const line of (await statements?.costliest(measured.count)) ?? []) console.log(`      ${line}`);
  }
}

async function inParallel(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let i = next++; i < count; i = next++) await work(i);
    }),
  );
}

/** A POST with the same body to a Fastify that does nothing, in a process of its own. */
async function bareAnswer(body: string): Promise<void> {
  barePool ??= await startBare();
  const answer = await barePool.request({
    method: "POST",
    path: "/",
    headers: { "content-type": "application/json" },
    body,
  });
  await answer.body.text();
}

async function startBare(): Promise<Pool> {
  const { fork } = await import("node:child_process");
  const child = fork(new URL("./bare-fastify.ts", import.meta.url), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  child.unref();
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(Number(message))));
  child.channel?.unref();
  return new Pool(`http://127.0.0.1:${port}`, { connections: 64, pipelining: 1 });
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
