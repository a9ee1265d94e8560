// `npm run prove -- walk --operations N --seed S`: a seeded walk over everything that can happen to payments, against
// the whole system over HTTP while processors, clocks and operators misbehave; afterwards every book must agree. Prints
// its seed, its progress, what was drawn and each difference. Exit code 1 on a difference. The same seed makes the same
// decisions; what runs at the same time may interleave in another way.
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import { optionsOf, seedRange } from "../harness/options.ts";
import { Drawn } from "./drawn.ts";
import { dumpBooks } from "./dump.ts";
import { Honesty } from "./honesty.ts";
import { startMoneyRig } from "./money-rig.ts";
import { ourPayments } from "./money-truth.ts";
import { MonthStory } from "./month-story.ts";
import { playStory } from "./play.ts";
import { switchFaultsOn } from "./processor-faults.ts";
import { endRun, operationsOf, paymentsOf, printRun, type RunEnd } from "./run-end.ts";
import type { Run } from "./story.ts";
import { StripePost } from "./stripe-post.ts";
import { inOperatorsList } from "./unfinished-work.ts";
import { startOutside, viewOf, type WideRig, widenRig } from "./wide-rig.ts";

export interface WalkOptions {
  readonly operations: number;
  readonly seed: number;
  /** Rows of the fault table, or culprits, that it draws; empty: all that a walk draws. */
  readonly only?: readonly string[];
  readonly log: (line: string) => void;
}

export interface WalkReport extends RunEnd {
  readonly operations: number;
  readonly payments: number;
  readonly faults: number;
}

/** Longer than the processor's outage card lasts. */
const patienceMs = 90_000;
/** Stories that run side by side. */
const walkersMax = 24;
const settleMsMax = 90_000;
const progressEvery = 1_000;
const waitingEveryMs = 20_000;
/** From this number of operations on, a walk fails unless it drew every row of the table. */
const longWalk = 5_000;
/**
 * How long the simulator honours keys: in a long walk they end, though not before anything of ours could stay in doubt.
 */
const keySecondsOf = (operations: number) => (operations >= longWalk ? 50 : 86_400);

const usage = `npm run prove -- walk [--operations N] [--seed S] [--only names]

  --operations  how many, 1 to 1000000; default 5000
  --seed        the same seed makes the same decisions; default: one by chance, printed
  --only        faults to draw, separated by commas, or whose (processor, clock, operator); default: every row of
                docs/faults.md that a walk draws. From ${longWalk} operations on a row that was never drawn is a difference.`;

/** A rig for walks. @param operations of the longest of them */
export async function startWalkRig(operations: number): Promise<WideRig> {
  const outside = await startOutside();
  const money = { SIMULATOR_SETTLEMENT_SECONDS: "5", SIMULATOR_PAYOUT_SECONDS: "10" };
  const env = { ...outside.env, ...money, SIMULATOR_KEY_SECONDS: String(keySecondsOf(operations)) };
  const rig = await startMoneyRig({ env, clocks: outside.clocks, shape: outside.shape });
  return await widenRig(rig, outside);
}

/** Walks on a rig that is running. */
export async function runWalk(rig: WideRig, options: WalkOptions): Promise<WalkReport> {
  const { seed, operations, log } = options;
  const listedBefore = await inOperatorsList(rig);
  const run: Run = { rig, drawn: new Drawn(options.only), honesty: new Honesty(), held: 0, listedBefore };
  for (const shop of rig.shops) {
    // Another walk may have been here before.
    shop.seen.restart((await ourPayments(viewOf(rig, shop))).size);
  }
  const firedBefore = rig.fake.fired();
  const set = await switchFaultsOn(rig, seed, run.drawn);
  const post = new StripePost(rig.running.stack.gateway, rig.shops, run.drawn, seed + 7);
  const month = new MonthStory(rig);
  await month.begin();
  let closing: Promise<void> | undefined;
  let stories = 0;
  let nextProgress = progressEvery;
  const playing = new Set<string>();
  const walker = async () => {
    while (operationsOf(run) < operations) {
      const number = stories++;
      const name = `${seed}-${number}`;
      playing.add(name);
      await playStory(run, { seed: seed * 1_000_003 + number, name, patienceMs });
      playing.delete(name);
      if (operationsOf(run) > operations / 2) closing ??= month.close();
      if (operationsOf(run) < nextProgress) continue;
      nextProgress += progressEvery;
      log(`  ${operationsOf(run)} operations`);
    }
  };
  const waiting = setInterval(() => {
    if (operationsOf(run) >= operations) log(`  stories that still play: ${[...playing].join(", ")}`);
  }, waitingEveryMs);
  await Promise.all(Array.from({ length: walkersMax }, walker)).finally(() => clearInterval(waiting));
  await closing;
  log("  comparing the books");
  const end = await endRun({ run, post, set, firedBefore, limitMs: settleMsMax, keySeconds: keySecondsOf(operations) });
  await post.stop();
  const undrawn = operations >= longWalk ? run.drawn.missing("walk") : [];
  printRun(run, "walk", end, log);
  const differences = [
    ...end.differences,
    ...(await month.differences()),
    ...undrawn.map((name) => `never drawn: ${name}`),
  ];
  return {
    ...end,
    differences,
    operations: operationsOf(run),
    payments: paymentsOf(run),
    faults: run.drawn.total,
  };
}

async function runCommand(): Promise<void> {
  printHelpIfRequested(usage);
  const { operations, seed, ...words } = optionsOf(
    { operations: { fallback: 5_000, least: 1, most: 1_000_000 }, seed: seedRange() },
    "only",
  );
  const only = words.only?.split(",") ?? [];
  const began = performance.now();
  console.log(`walk of ${operations} operations, seed ${seed}`);
  const rig = await startWalkRig(operations);
  try {
    const report = await runWalk(rig, { operations, seed, only, log: console.log });
    for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(
      `${report.operations} operations, ${report.payments} payments, ${report.faults} faults, ${seconds} s: ${report.differences.length} differences`,
    );
    if (report.differences.length > 0) {
      const which = only.length > 0 ? ` --only "${only.join(",")}"` : "";
      console.log(`again: npm run prove -- walk --operations ${operations} --seed ${seed}${which}`);
      console.log(`rows about them: ${await dumpBooks(rig, report.differences)}`);
      process.exitCode = 1;
    }
  } finally {
    await rig.stop();
  }
}

if (import.meta.main) {
  await runCommand();
  process.exit();
}
