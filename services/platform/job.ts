// Clockwork of a process: runs a job again and again, one run at a time, at once when poked, with backoff when it fails.
import { WatchedJob } from "./job-metrics.ts";
import type { Log } from "./log.ts";

/** What a job is. `runOnce` answers true when there is more to do right away; tests call it directly. */
export interface JobContext {
  readonly name: string;
  /** Pause between runs, milliseconds, ±10 % so that replicas do not march in step. */
  readonly everyMs: number;
  readonly runOnce: () => Promise<boolean>;
  /** Longest pause after failures; by default half a minute. */
  readonly failurePauseMsMax?: number;
  /** Given a function that makes the job run now. */
  readonly onStart?: (wake: () => void) => void;
}

// A failing job tries again after 1, 2, 4 … seconds, at most this.
const failurePauseMsMaxDefault = 30_000;
const failurePauseMs = 1_000;

/** Runs the jobs until `stop`, which waits for runs under way. */
export function startJobs(jobs: readonly JobContext[], log: Log): { stop(): Promise<void> } {
  const running = jobs.map((job) => new RunningJob(job, log));
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}

class RunningJob {
  readonly #job: JobContext;
  readonly #log: Log;
  readonly #watched: WatchedJob;
  readonly #done: Promise<void>;
  #stopped = false;
  #poked = false;
  #wake: () => void = () => {};

  constructor(job: JobContext, log: Log) {
    this.#job = job;
    this.#log = log;
    this.#watched = new WatchedJob(job.name, job.everyMs);
    job.onStart?.(() => {
      this.#poked = true;
      this.#wake();
    });
    this.#done = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#done;
    this.#watched.end();
  }

  async #loop(): Promise<void> {
    let failures = 0;
    while (!this.#stopped) {
      this.#poked = false;
      try {
        const more = await this.#watched.run(() => this.#job.runOnce());
        if (failures > 0) this.#log.info({ job: this.#job.name }, "job works again");
        failures = 0;
        if (!more) await this.#sleep(this.#job.everyMs * (0.9 + Math.random() * 0.2));
      } catch (error) {
        failures += 1;
        const fields = { err: error, job: this.#job.name, failures };
        // Once, and then at each doubling: a job that fails for a day says so without filling the log.
        if (Number.isInteger(Math.log2(failures))) this.#log.warn(fields, "job failed; trying again");
        else this.#log.debug(fields, "job failed again");
        const pauseMsMax = this.#job.failurePauseMsMax ?? failurePauseMsMaxDefault;
        await this.#sleep(Math.min(failurePauseMs * 2 ** (failures - 1), pauseMsMax), false);
      }
    }
  }

  /** Pokes cut a normal pause short, but not the pause after a failure. */
  async #sleep(ms: number, pokable = true): Promise<void> {
    if (this.#stopped || (pokable && this.#poked)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!pokable && !this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}
