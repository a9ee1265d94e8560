// `npm run walk -- --operations N --seed S`: a seeded walk over everything that can happen to payments, against the whole system over
// HTTP while the processor misbehaves; afterwards every book must agree. Prints its seed, its progress and each difference. Exit
// code 1 on a difference. The same seed makes the same decisions; what runs at the same time may interleave in another way.
import { readOptions } from "../harness/options.ts";
import { finalDifferences } from "./money-checks.ts";
import { type MoneyRig, startMoneyRig } from "./money-rig.ts";
import { ourPayments } from "./money-truth.ts";
import { playPayment } from "./payment-story.ts";
import { firedFaults, misbehave } from "./processor-faults.ts";
import { Random } from "./random.ts";
import { Seen } from "./seen.ts";

export interface WalkOptions {
  readonly operations: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface WalkReport {
  readonly operations: number;
  readonly payments: number;
  readonly faults: number;
  readonly differences: readonly string[];
}

/** Longer than the processor's outage card lasts. */
const patienceMs = 90_000;
/** Stories that run side by side. */
const walkersMax = 24;
/** Each withheld payment takes one of the processor's hundred fault switches. */
const withheldMax = 40;
const withheldShare = 0.04;
const settleMsMax = 90_000;
const progressEvery = 1_000;

/** Walks on a rig that is running. */
export async function walk(rig: MoneyRig, options: WalkOptions): Promise<WalkReport> {
  const seen = new Seen();
  // Another walk may have been here before.
  seen.creations = (await ourPayments(rig)).size;
  await misbehave(rig, options.seed);
  let stories = 0;
  let withheld = 0;
  let nextProgress = progressEvery;
  const walker = async () => {
    while (seen.operations < options.operations) {
      const number = stories++;
      const random = new Random(options.seed * 1_000_003 + number);
      const withholds = () => random.chance(withheldShare) && withheld < withheldMax && ++withheld > 0;
      await playPayment({ rig, random, seen, name: `${options.seed}-${number}`, patienceMs, withholds });
      if (seen.operations < nextProgress) continue;
      nextProgress += progressEvery;
      options.say(`  ${seen.operations} operations`);
    }
  };
  await Promise.all(Array.from({ length: walkersMax }, walker));
  const faults = await firedFaults(rig);
  const differences = await finalDifferences(rig, seen, { limitMs: settleMsMax });
  return { operations: seen.operations, payments: seen.payments.size, faults, differences };
}

async function runCommand(): Promise<void> {
  const given = readOptions("operations", "seed");
  const operations = Number(given.get("operations") ?? 5_000);
  const seed = Number(given.get("seed") ?? Math.floor(Math.random() * 1_000_000));
  if (!(operations >= 1 && operations <= 1_000_000) || !Number.isSafeInteger(seed)) {
    console.error("--operations takes 1 to 1000000, --seed a whole number");
    process.exit(2);
  }
  const began = performance.now();
  console.log(`walk of ${operations} operations, seed ${seed}`);
  const rig = await startMoneyRig();
  try {
    const report = await walk(rig, { operations, seed, say: console.log });
    for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(
      `${report.operations} operations, ${report.payments} payments, ${report.faults} faults, ${seconds} s: ${report.differences.length} differences`,
    );
    if (report.differences.length > 0) {
      console.log(`again: npm run walk -- --operations ${operations} --seed ${seed}`);
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
