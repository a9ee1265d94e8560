// Runs the jobs of a group a few at a time. One that fails and may be repeated is run once more, alone, when the others
// have ended; the first outcome is told too, and the second one counts.
import type { Outcome } from "./run-file.ts";

/** A file or a command to run. */
export interface Job {
  name: string;
  run(): Promise<Outcome>;
  /** Runs it on clean state; absent: its first outcome counts. */
  runAgain?(): Promise<Outcome>;
}

/** What an outcome means: it counts, or the job is going to be repeated. */
export type Standing = "counts" | "repeated";

/** @returns the names of those that passed only when they were run again */
export async function runJobs(
  jobs: readonly Job[],
  parallel: number,
  report: (name: string, outcome: Outcome, standing: Standing) => void,
): Promise<string[]> {
  const queue = [...jobs];
  const failed: Required<Job>[] = [];
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      const outcome = await job.run();
      const { runAgain } = job;
      const isRepeated = runAgain !== undefined && outcome.failed > 0 && !outcome.isLate;
      if (isRepeated) failed.push({ ...job, runAgain });
      report(job.name, outcome, isRepeated ? "repeated" : "counts");
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  const flaky: string[] = [];
  for (const job of failed) {
    const outcome = await job.runAgain();
    if (outcome.failed === 0) flaky.push(job.name);
    report(job.name, outcome, "counts");
  }
  return flaky;
}
