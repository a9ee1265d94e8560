// `npm run chaos -- --minutes N --seed S [--clients C]`: persistent clients use the whole system over HTTP while its processes, PostgreSQL and NATS
// are killed, frozen and cut off by a seeded schedule and the processor misbehaves; then calm, and every outcome that any client ever
// saw is compared with all the books. Prints a report; exit code 1 on a difference. Ctrl-C ends it and leaves nothing running.
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../harness/eventually.ts";
import { readOptions } from "../harness/options.ts";
import type { Received } from "../harness/receiver.ts";
import { type ChaosRig, startChaosRig } from "./chaos-rig.ts";
import { type Disturbance, schedule } from "./disturbance.ts";
import { finalDifferences } from "./money-checks.ts";
import { playPayment } from "./payment-story.ts";
import { firedFaults, misbehave } from "./processor-faults.ts";
import { Random } from "./random.ts";
import { Seen } from "./seen.ts";

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Clients that work side by side. */
  readonly clients: number;
  readonly say: (line: string) => void;
  /** Ends the run early, without a comparison. */
  readonly signal?: AbortSignal;
}

export interface ChaosReport {
  readonly operations: number;
  readonly payments: number;
  /** How often each disturbance happened, such as `kill payments`. */
  readonly disturbances: ReadonlyMap<string, number>;
  /** Faults of the processor that fired. */
  readonly faults: number;
  readonly differences: readonly string[];
}

/** A client does not give up before everything has been well for this long. */
const patienceMs = 120_000;
/** The parts come back within their supervisor's longest pause. */
const readyMsMax = 60_000;
const settleMsMax = 240_000;
const progressEveryMs = 10_000;
/** On a machine where a part needs long to come back, the schedule waits: where nothing works, nothing is proved. */
const awayMax = 2;
/** Each withheld payment takes one of the processor's hundred fault switches. */
const withheldMax = 40;

/** Runs on a rig of its own kind. */
export async function chaos(rig: ChaosRig, options: ChaosOptions): Promise<ChaosReport> {
  const { say } = options;
  const seen = new Seen();
  await misbehave(rig, options.seed);
  receiverMisbehaves(rig, new Random(options.seed + 1));
  const over = new AbortController();
  const began = performance.now();
  const progress = setInterval(() => {
    say(`  ${Math.round((performance.now() - began) / 1_000)} s: ${seen.operations} operations`);
  }, progressEveryMs);
  const clients = Array.from({ length: options.clients }, (_, i) => client(rig, seen, options, i, over.signal));
  const disturbances = await disturb(rig, options);
  over.abort();
  await Promise.all(clients);
  clearInterval(progress);
  rig.receiver.answer({ status: 200 });
  if (options.signal?.aborted) throw new Error("interrupted");
  say("  calm; comparing the books");
  await eventually("every part to be ready", async () => (await rig.merchant.get("/readyz")).status === 200, {
    limitMs: readyMsMax,
  });
  const faults = await firedFaults(rig);
  await putClockForward(rig);
  const differences = await finalDifferences(rig, seen, { limitMs: settleMsMax });
  return { operations: seen.operations, payments: seen.payments.size, disturbances, faults, differences };
}

/** One client after the other story; its decisions follow from seed and number. */
async function client(
  rig: ChaosRig,
  seen: Seen,
  { seed, seconds }: ChaosOptions,
  number: number,
  over: AbortSignal,
): Promise<void> {
  const end = performance.now() + seconds * 1_000 + patienceMs;
  let withheld = 0;
  for (let story = 0; !over.aborted; story++) {
    const random = new Random(seed * 1_000_003 + number * 10_007 + story);
    const withholds = () => random.chance(0.02) && withheld < withheldMax / 8 && ++withheld > 0;
    const name = `${seed}-${number}-${story}`;
    await playPayment({ rig, random, seen, name, patienceMs: end - performance.now(), withholds });
  }
}

/** Follows the schedule. @returns what happened, by name. */
async function disturb(rig: ChaosRig, { seed, seconds, say, signal }: ChaosOptions): Promise<Map<string, number>> {
  const happened = new Map<string, number>();
  const away = new Set<string>();
  const underWay: Promise<void>[] = [];
  const began = performance.now();
  for (const one of schedule(new Random(seed), seconds * 1_000)) {
    const wait = began + one.atMs - performance.now();
    if (wait > 0) await pause(wait, undefined, { ...(signal && { signal }) }).catch(() => {});
    if (signal?.aborted) break;
    const name = nameOf(one);
    if (away.size >= awayMax || away.has(name.split(" ").at(-1) ?? "")) continue;
    say(`  ${(one.atMs / 1_000).toFixed(1)} s: ${name}${one.kind === "freeze" ? ` for ${one.forMs} ms` : ""}`);
    underWay.push(
      apply(rig, one, away).then((did) => {
        if (did) happened.set(name, (happened.get(name) ?? 0) + 1);
      }),
    );
  }
  await pause(Math.max(0, began + seconds * 1_000 - performance.now()), undefined, { ...(signal && { signal }) }).catch(
    () => {},
  );
  await Promise.all(underWay);
  return happened;
}

function nameOf(one: Disturbance): string {
  return `${one.kind} ${one.kind === "cut" ? one.link : one.part}`;
}

/** A part that is killed or frozen is left alone until it is back. */
async function apply(rig: ChaosRig, one: Disturbance, away: Set<string>): Promise<boolean> {
  if (one.kind === "cut") return rig.cut(one.link);
  away.add(one.part);
  try {
    return one.kind === "kill" ? await rig.kill(one.part) : await rig.freeze(one.part, one.forMs);
  } finally {
    away.delete(one.part);
  }
}

/** Merchants' endpoints fail too: errors, broken connections, slow answers. */
function receiverMisbehaves(rig: ChaosRig, random: Random): void {
  rig.receiver.answer((_request: Received) =>
    random.pick([
      [{ status: 200 }, 90],
      [{ status: 503 }, 4],
      [{ status: 200, drop: true }, 3],
      [{ status: 200, delayMs: 300 }, 3],
    ]),
  );
}

/** What is in doubt is asked about after pauses that grow to hours (README, "When something fails"); here it is asked about now. */
async function putClockForward({ books }: ChaosRig): Promise<void> {
  await books.payments.rows(`update operations set next_try_at = now() where state = 'started'`);
  await books.payments.rows(`update payments set next_check_at = now() where next_check_at is not null and visible`);
}

async function runCommand(): Promise<void> {
  const given = readOptions("minutes", "seed", "clients");
  const minutes = Number(given.get("minutes") ?? 2);
  const seed = Number(given.get("seed") ?? Math.floor(Math.random() * 1_000_000));
  const clients = Number(given.get("clients") ?? 12);
  if (!(minutes > 0 && minutes <= 1_440) || !Number.isSafeInteger(seed) || seed < 0) {
    console.error("--minutes takes more than 0 and at most 1440, --seed a whole number");
    process.exit(2);
  }
  if (!(Number.isInteger(clients) && clients >= 1 && clients <= 100)) {
    console.error("--clients takes a whole number from 1 to 100");
    process.exit(2);
  }
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
  const again = `npm run chaos -- --minutes ${minutes} --seed ${seed} --clients ${clients}`;
  console.log(`chaos of ${minutes} minutes, seed ${seed}`);
  const rig = await startChaosRig();
  try {
    const options = { seconds: minutes * 60, seed, clients, say: console.log, signal: interrupted.signal };
    const report = await chaos(rig, options);
    print(report);
    if (report.differences.length > 0) {
      console.log(`again: ${again}`);
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

function print(report: ChaosReport): void {
  for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
  const by = (kind: string) => [...report.disturbances].filter(([name]) => name.startsWith(kind));
  const sum = (kind: string) => by(kind).reduce((total, [, count]) => total + count, 0);
  console.log(`\n${report.operations} operations on ${report.payments} payments`);
  for (const kind of ["kill", "freeze", "cut"]) {
    const parts = by(kind).map(([name, count]) => `${name.slice(kind.length + 1)} ${count}`);
    console.log(`${kind.padEnd(8)} ${String(sum(kind)).padStart(5)}  ${parts.sort().join(" · ")}`);
  }
  console.log(`${"processor".padEnd(8)} ${String(report.faults).padStart(4)}  faults`);
  console.log(`differences: ${report.differences.length}`);
}

if (import.meta.main) {
  await runCommand();
  process.exit();
}
