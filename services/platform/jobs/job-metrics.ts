// What operators see of the jobs of a process: when each last succeeded, how long its run takes, how often it failed.
// Times are monotonic, so that no step of a clock makes a job late.
import type { Counter, Gauge, Registry } from "prom-client";
import { counter, gauge } from "#platform/telemetry/metrics.ts";

/** The jobs of a service, and their metrics. */
export class JobWatch {
  readonly #jobs = new Set<WatchedJob>();
  readonly #failures: Counter<"name">;
  readonly #lastRun: Gauge<"name">;

  constructor(registry: Registry) {
    this.#failures = counter(registry, {
      name: "tollbooth_job_failures_total",
      help: "Runs of a job that failed, by the job's name.",
      labelNames: ["name"] as const,
    });
    this.#lastRun = gauge(registry, {
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

  get jobs(): readonly WatchedJob[] {
    return [...this.#jobs];
  }

  /** @param everyMs the longest pause between runs. @param limitMs a run that takes longer ends the process. */
  add(name: string, everyMs: number, limitMs: number): WatchedJob {
    this.#failures.inc({ name }, 0);
    const job = new WatchedJob({ name, everyMs, limitMs }, this.#failures, this.#lastRun);
    this.#jobs.add(job);
    return job;
  }

  /** The process has ended it. */
  remove(job: WatchedJob): void {
    this.#jobs.delete(job);
  }

  #gaugeEach(registry: Registry, ms: (job: WatchedJob) => number, config: { name: string; help: string }): void {
    const jobs = this.#jobs;
    gauge(registry, {
      ...config,
      labelNames: ["name"] as const,
      collect() {
        this.reset();
        for (const job of jobs) this.set({ name: job.name }, ms(job) / 1_000);
      },
    });
  }
}

/** One job as it is watched. */
export class WatchedJob {
  readonly name: string;
  readonly limitMs: number;
  readonly #everyMs: number;
  readonly #failed: Counter<"name">;
  readonly #lastRun: Gauge<"name">;
  #succeededAt = performance.now();
  #beganAt: number | undefined;
  #failures = 0;

  constructor(
    job: { readonly name: string; readonly everyMs: number; readonly limitMs: number },
    failed: Counter<"name">,
    lastRun: Gauge<"name">,
  ) {
    this.name = job.name;
    this.limitMs = job.limitMs;
    this.#everyMs = job.everyMs;
    this.#failed = failed;
    this.#lastRun = lastRun;
  }

  /** Watches one run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#beganAt = performance.now();
    try {
      const done = await work();
      this.#succeededAt = performance.now();
      this.#failures = 0;
      this.#lastRun.set({ name: this.name }, (this.#succeededAt - this.#beganAt) / 1_000);
      return done;
    } catch (error) {
      this.#failures += 1;
      this.#failed.inc({ name: this.name });
      throw error;
    } finally {
      this.#beganAt = undefined;
    }
  }

  /** Runs that failed since the last one that succeeded. */
  get failures(): number {
    return this.#failures;
  }

  /** Since the job should have succeeded again. */
  lateMs(): number {
    return Math.max(0, performance.now() - this.#succeededAt - this.#everyMs);
  }

  /** Since its present run began; 0: none is under way. */
  runningMs(): number {
    return this.#beganAt === undefined ? 0 : performance.now() - this.#beganAt;
  }
}
