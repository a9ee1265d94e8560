// Runs scheduled jobs: one run at a time, immediately when woken, with backoff after failures. Every wait in a run has
// a deadline, so a run without end is a defect: its process stops in order and the supervisor starts another.
import { type Counter, type Gauge, type Registry, register } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import { newCounter, newGauge } from "#platform/telemetry/metrics.ts";

/** `runOnce` returns true when there is more to do immediately; tests call it directly. */
export interface JobContext {
  readonly name: string;
  /** Pause between runs in milliseconds, ±10 % so replicas do not run in step. */
  readonly everyMs: number;
  readonly runOnce: () => Promise<boolean>;
  /** A longer run is considered hung; default five minutes. */
  readonly limitMs?: number;
  /** Longest pause after failures; default 30 s. */
  readonly failurePauseMsMax?: number;
  /** Wakes the job before its pause ends. */
  readonly wake?: Wake;
}

/** Wakes jobs. It may be created before its jobs start. */
export class Wake {
  readonly #listeners: (() => void)[] = [];

  now(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

// A failing job retries after 1, 2, 4 … seconds, at most this.
const failurePauseMsMaxDefault = 30_000;
const failurePauseMs = 1_000;

const jitter = 0.1;

// Several times a batch in which every call reaches its deadline; jobs with longer runs set their own limit.
const limitMsDefault = 300_000;

/**
 * Runs the jobs until `stop`, which waits for active runs.
 * @param onHang called once when a run exceeds its limit; by default it ends the process
 */
export function startJobs(
  jobs: readonly JobContext[],
  log: Log,
  watch = new JobWatch(register),
  onHang: () => void = () => process.kill(process.pid, "SIGTERM"),
): { stop(): Promise<void> } {
  const running = jobs.map((job) => new RunningJob(job, log, watch, onHang));
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}

/** A job that runs until it stops. Times are monotonic, so a clock step makes no job late. */
export class RunningJob {
  readonly name: string;
  readonly limitMs: number;
  readonly #job: JobContext;
  readonly #log: Log;
  readonly #watch: JobWatch;
  readonly #onHang: () => void;
  readonly #done: Promise<void>;
  #stopped = false;
  #isWoken = false;
  #endSleep: () => void = () => {};
  #succeededAt = performance.now();
  #beganAt: number | undefined;
  /** Failed runs since the last success. */
  failures = 0;

  constructor(job: JobContext, log: Log, watch: JobWatch, onHang: () => void) {
    this.name = job.name;
    this.limitMs = job.limitMs ?? limitMsDefault;
    this.#job = job;
    this.#log = log;
    this.#watch = watch;
    this.#onHang = onHang;
    watch.failures.inc({ name: job.name }, 0);
    watch.jobs.add(this);
    job.wake?.listen(() => {
      this.#isWoken = true;
      this.#endSleep();
    });
    this.#done = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endSleep();
    await this.#done;
    this.#watch.jobs.delete(this);
  }

  /** Time since the job should have succeeded again. */
  lateMs(): number {
    return Math.max(0, performance.now() - this.#succeededAt - this.#job.everyMs * (1 + jitter));
  }

  /** Time since the current run began; 0 when idle. */
  runningMs(): number {
    return this.#beganAt === undefined ? 0 : performance.now() - this.#beganAt;
  }

  async #loop(): Promise<void> {
    const { name, everyMs, failurePauseMsMax = failurePauseMsMaxDefault } = this.#job;
    while (!this.#stopped) {
      this.#isWoken = false;
      try {
        const more = await this.#runOnce();
        if (this.failures > 0) this.#log.info({ job: name }, "job recovered");
        this.failures = 0;
        if (!more) await this.#sleep(everyMs * (1 + jitter * (2 * Math.random() - 1)));
      } catch (error) {
        this.failures += 1;
        this.#watch.failures.inc({ name });
        const fields = { err: error, job: name, failures: this.failures };
        // Logged at each doubling: a job that fails all day does not fill the log.
        if (Number.isInteger(Math.log2(this.failures))) this.#log.warn(fields, "job failed: retrying");
        else this.#log.debug(fields, "job failed again");
        await this.#sleep(Math.min(failurePauseMs * 2 ** (this.failures - 1), failurePauseMsMax), false);
      }
    }
  }

  async #runOnce(): Promise<boolean> {
    const began = performance.now();
    this.#beganAt = began;
    const watchdog = setTimeout(() => {
      const fields = { job: this.name, limit_seconds: this.limitMs / 1_000 };
      this.#log.error(fields, "job hung: ending the process");
      this.#onHang();
    }, this.limitMs);
    watchdog.unref();
    try {
      const more = await this.#job.runOnce();
      this.#succeededAt = performance.now();
      this.#watch.lastRun.set({ name: this.name }, (this.#succeededAt - began) / 1_000);
      return more;
    } finally {
      this.#beganAt = undefined;
      clearTimeout(watchdog);
    }
  }

  /** A wake shortens a normal pause, but not the pause after a failure. */
  async #sleep(ms: number, wakeable = true): Promise<void> {
    if (this.#stopped || (wakeable && this.#isWoken)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endSleep = () => {
        if (!wakeable && !this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endSleep = () => {};
  }
}

/** Running jobs of a process and their metrics: last success, run time, failures. */
export class JobWatch {
  readonly jobs = new Set<RunningJob>();
  readonly failures: Counter<"name">;
  readonly lastRun: Gauge<"name">;

  constructor(registry: Registry) {
    this.failures = newCounter(registry, {
      name: "tollbooth_job_failures_total",
      help: "Runs of a job that failed, by the job's name.",
      labelNames: ["name"] as const,
    });
    this.lastRun = newGauge(registry, {
      name: "tollbooth_job_last_run_seconds",
      help: "How long the latest run of a job that succeeded took.",
      labelNames: ["name"] as const,
    });
    this.#gaugeEach(registry, (job) => job.lateMs(), {
      name: "tollbooth_job_late_seconds",
      help: "Since a job should have succeeded again: its latest success, and its longest pause after it. 0: in time.",
    });
    this.#gaugeEach(registry, (job) => job.runningMs(), {
      name: "tollbooth_job_running_seconds",
      help: "How long the present run of a job has lasted; 0: none is under way.",
    });
    this.#gaugeEach(registry, (job) => job.limitMs, {
      name: "tollbooth_job_limit_seconds",
      help: "A process whose job has a longer run than this ends, since the run would never end.",
    });
  }

  #gaugeEach(registry: Registry, ms: (job: RunningJob) => number, config: { name: string; help: string }): void {
    const { jobs } = this;
    newGauge(registry, {
      ...config,
      labelNames: ["name"] as const,
      collect() {
        this.reset();
        for (const job of jobs) this.set({ name: job.name }, ms(job) / 1_000);
      },
    });
  }
}
