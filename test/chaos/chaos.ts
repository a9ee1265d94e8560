// `npm run prove -- chaos --minutes N --seed S [--clients C]`: persistent clients use the whole system over HTTP while
// its processes, PostgreSQL and NATS are killed, frozen and cut off by a seeded schedule and processors, clocks and
// operators misbehave; then calm, and every outcome that any client ever saw is compared with all the books. Prints a
// report; exit code 1 on a difference. Ctrl-C leaves nothing running.
import { setTimeout as pause } from "node:timers/promises";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import { eventually } from "../harness/eventually.ts";
import { optionsOf, seedRange } from "../harness/options.ts";
import type { ReceivedRequest } from "../harness/receiver.ts";
import { type ChaosRig, startChaosRig } from "./chaos-rig.ts";
import { playClock } from "./clock-story.ts";
import { type Disturbance, drawSchedule, faultOf } from "./disturbance.ts";
import { Drawn } from "./drawn.ts";
import { dumpBooks } from "./dump.ts";
import { Honesty } from "./honesty.ts";
import { playStory } from "./play.ts";
import { switchFaultsOn } from "./processor-faults.ts";
import { Random } from "./random.ts";
import { endRun, operationsOf, paymentsOf, printRun, type RunEnd } from "./run-end.ts";
import type { Run } from "./story.ts";
import { StripePost } from "./stripe-post.ts";

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Clients that work side by side. */
  readonly clients: number;
  /** Rows of the fault table, or culprits, that it draws; empty: all that a chaos run draws. */
  readonly only?: readonly string[];
  /** In their order; absent: what the seed makes. */
  readonly plan?: readonly Disturbance[];
  /** Called as each disturbance begins. */
  readonly onDisturbance?: (name: string) => void;
  readonly log: (line: string) => void;
  /** Ends the run early, without a comparison. */
  readonly signal?: AbortSignal;
}

export interface ChaosReport extends RunEnd {
  readonly operations: number;
  readonly payments: number;
  /** How often each disturbance happened, such as `kill payments`. */
  readonly disturbances: ReadonlyMap<string, number>;
  /** Faults that were drawn, of everybody. */
  readonly faults: number;
}

/** A client does not give up before everything has been well for this long. */
const patienceMs = 120_000;
/** The parts come back within their supervisor's longest pause. */
const readyMsMax = 60_000;
const settleMsMax = 240_000;
const progressEveryMs = 10_000;
/** On a machine where a part needs long to come back, the schedule waits: where nothing works, nothing is proved. */
const awayMax = 2;
/** From so long on every row of the table is drawn, or the run fails. */
const longSeconds = 300;
/**
 * How long the simulator honours keys, also in a short run: only their end proves that what it lost was never made. Not
 * before anything of ours could stay in doubt.
 */
export const keySeconds = 120;

const usage = `npm run prove -- chaos [--minutes N] [--seed S] [--clients C] [--only names]

  --minutes  how long, up to 1440; default 2
  --seed     the same seed makes the same schedule and decisions; default: one by chance, printed
  --clients  how many work side by side, 1 to 100; default 12
  --only     faults to draw, separated by commas, or whose (processor, network, clock …); default: every row of
             docs/faults.md that chaos draws. From ${longSeconds / 60} minutes on a row that was never drawn is a difference.`;

/** Runs on a rig of its own kind. */
export async function chaosRun(rig: ChaosRig, options: ChaosOptions): Promise<ChaosReport> {
  const { log, seed, seconds } = options;
  const listedBefore = new Set<string>();
  const run: Run = { rig, drawn: new Drawn(options.only), honesty: new Honesty(), held: 0, listedBefore };
  const firedBefore = rig.fake.fired();
  const set = await switchFaultsOn(rig, seed, run.drawn);
  const post = new StripePost(rig.running.stack.gateway, rig.shops, run.drawn, seed + 7);
  receiversMisbehave(run, new Random(seed + 1));
  const over = new AbortController();
  const began = performance.now();
  const progress = setInterval(() => {
    log(`  ${Math.round((performance.now() - began) / 1_000)} s: ${operationsOf(run)} operations`);
  }, progressEveryMs);
  const clients = Array.from({ length: options.clients }, (_, i) => client(run, options, i, over.signal));
  const disturbances = await disturb(run, rig, options);
  over.abort();
  await Promise.all(clients);
  clearInterval(progress);
  for (const { receiver } of rig.shops) receiver.answer({ status: 200 });
  if (options.signal?.aborted) throw new Error("interrupted");
  log("  calm; comparing the books");
  await eventually("every part to be ready", async () => (await rig.merchant.get("/readyz")).status === 200, {
    limitMs: readyMsMax,
  });
  // A pooled connection that the last fault broke fails its first query.
  for (const book of Object.values(rig.books)) {
    await eventually("the books to be readable", () => book.rows("select 1").then(() => true), { limitMs: readyMsMax });
  }
  const end = await endRun({ run, post, set, firedBefore, limitMs: settleMsMax, keySeconds });
  await post.stop();
  printRun(run, "chaos", end, log);
  const undrawn = seconds >= longSeconds ? run.drawn.missing("chaos").map((name) => `never drawn: ${name}`) : [];
  const differences = [...end.differences, ...undrawn];
  const totals = { operations: operationsOf(run), payments: paymentsOf(run), faults: run.drawn.total };
  return { ...end, ...totals, disturbances, differences };
}

/** One client after the other story; its decisions follow from seed and number. */
async function client(run: Run, { seed, seconds }: ChaosOptions, number: number, over: AbortSignal): Promise<void> {
  const end = performance.now() + seconds * 1_000 + patienceMs;
  for (let story = 0; !over.aborted; story++) {
    const own = seed * 1_000_003 + number * 10_007 + story;
    await playStory(run, { seed: own, name: `${seed}-${number}-${story}`, patienceMs: end - performance.now() });
  }
}

/** Follows the schedule. @returns what happened, by name. */
async function disturb(
  run: Run,
  rig: ChaosRig,
  { seed, seconds, plan, onDisturbance, log, signal }: ChaosOptions,
): Promise<Map<string, number>> {
  const happened = new Map<string, number>();
  const away = new Set<string>();
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (const one of plan ?? drawSchedule(new Random(seed), seconds * 1_000)) {
    const wait = began + one.atMs - performance.now();
    if (wait > 0) await pause(wait, undefined, { ...(signal && { signal }) }).catch(() => {});
    if (signal?.aborted) break;
    const name = nameOf(one);
    const fault = faultOf(one);
    if (fault && !run.drawn.may(fault)) continue;
    if (away.size >= awayMax || away.has(name.split(" ").at(-1) ?? "")) continue;
    log(`  ${(one.atMs / 1_000).toFixed(1)} s: ${name}${"forMs" in one ? ` for ${one.forMs} ms` : ""}`);
    onDisturbance?.(name);
    pending.push(
      apply(run, rig, one, away).then((did) => {
        if (!did) return;
        happened.set(name, (happened.get(name) ?? 0) + 1);
        if (fault) run.drawn.count(fault);
      }),
    );
  }
  await pause(Math.max(0, began + seconds * 1_000 - performance.now()), undefined, { ...(signal && { signal }) }).catch(
    () => {},
  );
  await Promise.all(pending);
  return happened;
}

function nameOf(one: Disturbance): string {
  if ("component" in one) return `${one.kind} ${one.component}`;
  if ("source" in one) return `${one.kind} ${one.source}`;
  return "link" in one ? `${one.kind} ${one.link}` : one.kind;
}

/** A part that is killed or frozen is left alone until it is back. */
async function apply(run: Run, rig: ChaosRig, one: Disturbance, away: Set<string>): Promise<boolean> {
  if ("link" in one) return await rig.spoil(one.link, one.kind, "forMs" in one ? one.forMs : 0);
  if (one.kind === "lose") return await rig.loseStream(one.source);
  if (one.kind === "clock") return await playClock(run, new Random(one.seed)).then(() => true);
  const component = one.kind === "readonly" ? "postgres" : one.component;
  away.add(component);
  try {
    if (one.kind === "readonly") return await rig.refuseWrites(one.forMs);
    return one.kind === "kill" ? await rig.kill(one.component) : await rig.freeze(one.component, one.forMs);
  } finally {
    away.delete(component);
  }
}

/** Merchants' endpoints fail too: errors, broken connections, slow answers. */
function receiversMisbehave({ rig, drawn }: Run, random: Random): void {
  if (!drawn.may("endpoint fails")) return;
  for (const { receiver } of rig.shops) {
    receiver.answer((_request: ReceivedRequest) => {
      const reply = random.pick([
        [{ status: 200 }, 90],
        [{ status: 503 }, 4],
        [{ status: 200, drop: true }, 3],
        [{ status: 200, delayMs: 300 }, 3],
      ]);
      if (reply.status !== 200 || reply.drop || reply.delayMs) drawn.count("endpoint fails");
      return reply;
    });
  }
}

/**
 * Runs on a new rig and prints the report; Ctrl-C leaves nothing running.
 * @param again the command that repeats the run
 */
export async function runChaos(
  startRig: () => Promise<ChaosRig>,
  options: Omit<ChaosOptions, "log" | "signal">,
  print: (report: ChaosReport) => void,
  again: string,
): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
  const rig = await startRig();
  try {
    const report = await chaosRun(rig, { ...options, log: console.log, signal: interrupted.signal });
    for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
    console.log(`\n${report.operations} operations on ${report.payments} payments`);
    print(report);
    console.log(`differences: ${report.differences.length}`);
    if (report.differences.length > 0) {
      console.log(`again: npm run prove -- ${again}`);
      console.log(`rows about them: ${await dumpBooks(rig, report.differences)}`);
      process.exitCode = 1;
    }
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    console.log("interrupted; nothing was compared");
    process.exitCode = 130;
  } finally {
    await rig.stop();
  }
}

async function runCommand(): Promise<void> {
  printHelpIfRequested(usage);
  const { minutes, seed, clients, only } = optionsOf(
    {
      minutes: { fallback: 2, least: 0.01, most: 1_440, isFraction: true },
      seed: seedRange(),
      clients: { fallback: 12, least: 1, most: 100 },
    },
    "only",
  );
  console.log(`chaos of ${minutes} minutes, seed ${seed}`);
  const options = { seconds: minutes * 60, seed, clients, only: only?.split(",") ?? [] };
  const again = `chaos --minutes ${minutes} --seed ${seed} --clients ${clients}${only ? ` --only "${only}"` : ""}`;
  await runChaos(() => startChaosRig({ SIMULATOR_KEY_SECONDS: String(keySeconds) }), options, printKinds, again);
}

function printKinds(report: ChaosReport): void {
  const by = (kind: string) => [...report.disturbances].filter(([name]) => name.startsWith(kind));
  const sum = (kind: string) => by(kind).reduce((total, [, count]) => total + count, 0);
  for (const kind of ["kill", "freeze", "cut", "break", "hole", "half", "readonly", "lose", "clock"]) {
    if (sum(kind) === 0) continue;
    const parts = by(kind).map(([name, count]) => `${name.slice(kind.length + 1)} ${count}`);
    console.log(`${kind.padEnd(8)} ${String(sum(kind)).padStart(5)}  ${parts.sort().join(" · ")}`);
  }
  console.log(`${"all".padEnd(9)} ${String(report.faults).padStart(4)}  faults of every kind`);
}

if (import.meta.main) {
  await runCommand();
  process.exit();
}
