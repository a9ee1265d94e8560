// Runs jobs a few at a time, and more while the machine has nothing to do: many files mostly wait. Files that fail and
// may be repeated are run again, alone, when the others have ended; the first outcome is reported too, and the second
// one counts.
import { setTimeout as pause } from "node:timers/promises";
import type { Outcome } from "./run-file.ts";

/** Files that share a process, or a command. */
export interface Job {
  /** Of the files, or of the command. */
  names: readonly string[];
  /** @param report called for each file that is done */
  run(report: (outcome: Outcome) => void): Promise<void>;
  /** Runs one file on clean state; absent: its first outcome counts. */
  runAgain?(name: string): Promise<Outcome>;
}

/** Whether an outcome is final, or the job is repeated. */
export type Standing = "counts" | "repeated";

/** How many run at once. */
export interface Lanes {
  readonly least: number;
  readonly most: number;
  /** Beyond the least: whether there is room for one more. Asked when one has ended, and at least every half second. */
  readonly hasRoom: () => boolean;
}

const askMsMax = 500;

/** @returns the names of those that passed only when they were run again */
export async function runJobs(
  jobs: readonly Job[],
  lanes: Lanes,
  report: (outcome: Outcome, standing: Standing) => void,
): Promise<string[]> {
  const again: (() => Promise<Outcome>)[] = [];
  await runInLanes(jobs, lanes, async (job) => {
    await job.run((outcome) => {
      const isRepeated = job.runAgain !== undefined && outcome.failed > 0 && !outcome.isLate;
      if (isRepeated) again.push(async () => (await job.runAgain?.(outcome.name)) ?? outcome);
      report(outcome, isRepeated ? "repeated" : "counts");
    });
  });
  const flaky: string[] = [];
  for (const run of again) {
    const outcome = await run();
    if (outcome.failed === 0) flaky.push(outcome.name);
    report(outcome, "counts");
  }
  return flaky;
}

async function runInLanes(jobs: readonly Job[], lanes: Lanes, run: (job: Job) => Promise<void>): Promise<void> {
  const queue = [...jobs];
  const running = new Set<Promise<void>>();
  const mayBegin = () => running.size < lanes.least || (running.size < lanes.most && lanes.hasRoom());
  while (queue.length > 0 || running.size > 0) {
    while (queue[0] && mayBegin()) {
      const one = run(queue[0]).finally(() => running.delete(one));
      running.add(one);
      queue.shift();
    }
    await Promise.race([...running, pause(askMsMax, undefined, { ref: false })]);
  }
}
