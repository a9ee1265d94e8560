// `npm run bench -- steps`: what one request does, alone on a warm stack: every call, statement and publication in its
// order, by the spans of many requests of a kind sent one after the other, what of a statement is the server's own
// time, and what pieces of the same kinds cost by themselves.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { type Collector, startCollector } from "../harness/servers/otlp-collector.ts";
import { shapeOfRun } from "../harness/stack.ts";
import { onBenchStack } from "./bench-stack.ts";
import type { Request } from "./load.ts";
import { pieceTimes } from "./pieces.ts";
import { openShop, type Shop } from "./shop.ts";
import { serverTimes, watchStatements } from "./statements.ts";
import { analyzeAll } from "./statistics.ts";
import { stepsOf, stepTable } from "./step-table.ts";

helpIfAsked(`npm run bench -- steps [--requests N] [--only create,refund]

  --requests  of each kind that are looked at, 10 to 1000; default 100
  --only      kinds whose names begin so; default: all

  TOLLBOOTH_SHAPE=one  a stack whose parts share one process`);
const { values } = parseWords({ options: { requests: { type: "string", default: "100" }, only: { type: "string" } } });
const requests = Number(values.requests);
if (!(Number.isInteger(requests) && requests >= 10 && requests <= 1_000))
  throw new Error("--requests takes 10 to 1000");
const only = values.only?.split(",");

// Before they are looked at: a new process spends several times as much on a request.
const warmRequests = 400;
// Processes send their spans once a second.
const quietMs = 2_500;

const collector = await startCollector();
try {
  await onBenchStack(report, {
    shape: shapeOfRun(),
    env: { OTEL_TRACES_SAMPLER_ARG: "0", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
} finally {
  collector.close();
}

async function report(running: RunningStack): Promise<void> {
  const { stack } = running;
  const statements = await watchStatements(running);
  const pieces = Object.entries(await pieceTimes(stack));
  const lines = pieces.map(([what, ms]) => `| ${what} | ${ms.toFixed(2)} |`);
  console.log(["\n| By itself, on an idle stack | ms |", "|---|---|", ...lines].join("\n"));
  const shop = await openShop(stack);
  const orders = await shop.paidSessions(2 * (warmRequests + requests));
  const opened = [...orders];
  const payments: string[] = [];
  let turn = 0;
  const next = <T>(all: readonly T[]): T => all[turn++ % all.length] as T;
  const get = (path: string, headers?: Record<string, string>): Request => ({
    method: "GET",
    path,
    ...(headers && { headers }),
  });
  const kinds: Record<string, () => Request> = {
    create: shop.create,
    confirm: () => orders.pop() as Request,
    "get payment": () => get(`/v1/payments/${next(payments)}`),
    "resolve session": () => get(next(opened).path.replace("/confirm", ""), {}),
    "list payments (50)": () => get("/v1/payments"),
    refund: () => shop.refund(next(payments)),
  };
  for (const [name, make] of Object.entries(kinds)) {
    const isWanted = !only || only.some((wanted) => name.startsWith(wanted));
    const keep = (answer: string) => {
      if (name === "confirm") payments.push(JSON.parse(answer).payment_id);
    };
    for (let i = 0; i < (isWanted || name === "confirm" ? warmRequests : 0); i++) keep(await shop.send(make()));
    if (!isWanted) continue;
    await analyzeAll(stack.database);
    await statements.reset();
    const traces = await traced(shop, make, keep);
    const spans = await collected(collector, traces);
    console.log(`\n${stepTable(name, stepsOf(spans, await serverTimes(stack.database)))}`);
  }
  await statements.close();
  await shop.close();
}

/** Sends them one after the other. @returns the id of each one's trace */
async function traced(shop: Shop, make: () => Request, keep: (answer: string) => void): Promise<Set<string>> {
  const traces = new Set<string>();
  for (let i = 0; i < requests; i++) {
    const trace = randomBytes(16).toString("hex");
    traces.add(trace);
    const traceparent = `00-${trace}-${randomBytes(8).toString("hex")}-01`;
    const request = make();
    keep(await shop.send({ ...request, headers: { ...(request.headers ?? shop.auth), traceparent } }));
  }
  return traces;
}

/** The spans of these traces, when no more have come for a while. */
async function collected({ spans }: Collector, traces: ReadonlySet<string>) {
  for (let known = -1; known < spans.length; await pause(quietMs)) known = spans.length;
  return spans.filter(({ traceId }) => traces.has(traceId));
}
