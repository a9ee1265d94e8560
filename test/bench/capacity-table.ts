// The cost of an order, and the machines for a number of orders per second: each figure is a rate times a cost, divided
// by the allowed utilisation.
import { streamKeepDays } from "#platform/events/streams.ts";

/** Of one order. */
export interface OrderCost {
  readonly perSecond: number;
  readonly p50Ms: number;
  /** Processor time of each part, microseconds; PostgreSQL without the card processor's database. */
  readonly cpuUs: Readonly<Record<string, number>>;
  /** For how long connections to the database worked on its statements, milliseconds. */
  readonly connectionMs: number;
  /** Of PostgreSQL's write-ahead log, the card processor's with it. */
  readonly logBytes: number;
  /** How often that log was forced to the disk. */
  readonly flushes: number;
  /** By which each table with its indexes grew, `service.table`. */
  readonly tableBytes: Readonly<Record<string, number>>;
  /** By which the broker's streams grew, by source. */
  readonly streamBytes: Readonly<Record<string, number>>;
  /** Resident, of each process, after the load. */
  readonly megabytes: Readonly<Record<string, number>>;
}

const rates = [10, 100, 1_000];
/**
 * From this rate on orders go together as they do at 32 connections: at 100 a second, with processors to spare, there
 * are some four at once.
 */
const manyFrom = 1_000;
/** Of a processor: the rest is for peaks, for a part that is lost, and for background work. */
const busyMax = 0.6;
/** Each runs JavaScript on one processor. */
const ours = ["gateway", "checkout", "payments", "merchant", "webhook"];
/** One may be lost. */
const replicasMin = 2;
/** TollboothStreamFilling rings above this share of what a stream may hold. */
const [streamFullMax, streamGibDefault] = [0.7, 4] as const;
const growthMax = 16;
const secondsOfDay = 86_400;

/** Markdown. */
export function orderCostTable(alone: OrderCost, many: OrderCost): string {
  const row = (what: string, of: (cost: OrderCost) => string) => `| ${what} | ${of(alone)} | ${of(many)} |`;
  return [
    "| One order | one after the other | 32 at once |",
    "|---|---|---|",
    row("orders a second · p50 ms", ({ perSecond, p50Ms }) => `${perSecond.toFixed(1)} · ${p50Ms.toFixed(0)}`),
    ...Object.keys(many.cpuUs).map((component) =>
      row(`CPU of ${component}, µs`, ({ cpuUs }) => whole(cpuUs[component] ?? 0)),
    ),
    row("connections at work, ms", ({ connectionMs }) => connectionMs.toFixed(1)),
    row("write-ahead log, bytes", ({ logBytes }) => whole(logBytes)),
    row("forced to the disk", ({ flushes }) => `${flushes.toFixed(1)} times`),
    row("tables and indexes, bytes", ({ tableBytes }) => whole(sumOf(tableBytes))),
    ...Object.keys(many.streamBytes).map((source) =>
      row(`stream of ${source}, bytes`, ({ streamBytes }) => whole(streamBytes[source] ?? 0)),
    ),
  ].join("\n");
}

/** Markdown. */
export function needsTable(alone: OrderCost, many: OrderCost): string {
  const costs = rates.map((rate) => ({ rate, cost: rate < manyFrom ? alone : many }));
  const row = (what: string, of: (rate: number, cost: OrderCost) => string) =>
    `| ${what} | ${costs.map(({ rate, cost }) => of(rate, cost)).join(" | ")} |`;
  return [
    `| Orders a second | ${rates.map(whole).join(" | ")} |`,
    `|---|${rates.map(() => "---|").join("")}`,
    ...ours.map((component) =>
      row(`replicas of ${component}`, (rate, { cpuUs }) => String(replicas(rate, cpuUs[component] ?? 0))),
    ),
    row("memory of those, MB", (rate, { cpuUs, megabytes }) =>
      whole(
        ours.reduce((sum, component) => sum + replicas(rate, cpuUs[component] ?? 0) * (megabytes[component] ?? 0), 0),
      ),
    ),
    row("processors for PostgreSQL", (rate, { cpuUs }) => processors(rate, cpuUs.postgres ?? 0).toFixed(1)),
    row("processors for NATS", (rate, { cpuUs }) => processors(rate, cpuUs.nats ?? 0).toFixed(1)),
    row("connections at work, in the mean", (rate, { connectionMs }) => ((rate * connectionMs) / 1_000).toFixed(1)),
    row("log to disk, MB a second", (rate, { logBytes }) => ((rate * logBytes) / 1e6).toFixed(2)),
    row("log forced to disk, times a second", (rate, { flushes }) => whole(rate * flushes)),
    row("tables and indexes, GB a day", (rate, { tableBytes }) => gigabytesOfDay(rate, sumOf(tableBytes))),
    row("streams, GB a day", (rate, { streamBytes }) => gigabytesOfDay(rate, sumOf(streamBytes))),
    row("`NATS_STREAM_GIB`", (rate, { streamBytes }) =>
      String(streamGib(rate, Math.max(...Object.values(streamBytes)))),
    ),
  ].join("\n");
}

/** Which tables grow most. Markdown. */
export function growthTable({ tableBytes }: OrderCost): string {
  const most = Object.entries(tableBytes).toSorted(([, one], [, other]) => other - one);
  return [
    "| Table with its indexes | bytes an order |",
    "|---|---|",
    ...most.slice(0, growthMax).map(([table, bytes]) => `| ${table} | ${whole(bytes)} |`),
  ].join("\n");
}

/** Processors that are busy for no more than they may be. */
function processors(rate: number, us: number): number {
  return (rate * us) / 1e6 / busyMax;
}

function replicas(rate: number, us: number): number {
  return Math.max(replicasMin, Math.ceil(processors(rate, us)));
}

/** So that the largest stream holds its days without an alert. */
function streamGib(rate: number, bytes: number): number {
  return Math.max(
    streamGibDefault,
    Math.ceil((rate * bytes * streamKeepDays * secondsOfDay) / 2 ** 30 / streamFullMax),
  );
}

function gigabytesOfDay(rate: number, bytes: number): string {
  return ((rate * bytes * secondsOfDay) / 1e9).toFixed(1);
}

function sumOf(bytes: Readonly<Record<string, number>>): number {
  return Object.values(bytes).reduce((sum, each) => sum + each, 0);
}

function whole(n: number): string {
  return Math.round(n).toLocaleString("en");
}
