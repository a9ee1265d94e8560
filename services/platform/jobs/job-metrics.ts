// What operators see of the jobs of a process: when each last succeeded, how long its run takes, how often it failed.
// Times are monotonic, so that no step of a clock makes a job late.
import { Counter, Gauge } from "#platform/parts/metric.ts";
import { ownState } from "#platform/parts/part.ts";

const failures = new Counter({
  name: "tollbooth_job_failures_total",
  help: "Runs of a job that failed, by the job's name.",
  labelNames: ["name"] as const,
});
const lastRun = new Gauge({
  name: "tollbooth_job_last_run_seconds",
  help: "How long the latest run of a job that succeeded took.",
  labelNames: ["name"] as const,
});

/** One job of this process as it is watched. */
export class WatchedJob {
  readonly name: string;
  readonly limitMs: number;
  readonly #everyMs: number;
  #succeededAt = performance.now();
  #beganAt: number | undefined;
  #failures = 0;

  /** @param everyMs the longest pause between runs. @param limitMs a run that takes longer ends the process. */
  constructor(name: string, everyMs: number, limitMs: number) {
    this.name = name;
    this.limitMs = limitMs;
    this.#everyMs = everyMs;
    failures.inc({ name }, 0);
    watched().add(this);
  }

  /** Watches one run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#beganAt = performance.now();
    try {
      const done = await work();
      this.#succeededAt = performance.now();
      this.#failures = 0;
      lastRun.set({ name: this.name }, (this.#succeededAt - this.#beganAt) / 1_000);
      return done;
    } catch (error) {
      this.#failures += 1;
      failures.inc({ name: this.name });
      throw error;
    } finally {
      this.#beganAt = undefined;
    }
  }

  /** The process has ended it. */
  end(): void {
    watched().delete(this);
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

const watched = ownState(() => new Set<WatchedJob>());

/** The jobs of this process. */
export function watchedJobs(): readonly WatchedJob[] {
  return [...watched()];
}

function gaugeEach(gauge: Pick<Gauge<"name">, "reset" | "set">, ms: (job: WatchedJob) => number): void {
  gauge.reset();
  for (const job of watched()) gauge.set({ name: job.name }, ms(job) / 1_000);
}

new Gauge({
  name: "tollbooth_job_late_seconds",
  help: "Since a job should have succeeded again: its latest success, and its longest pause after it. 0: in time.",
  labelNames: ["name"] as const,
  collect() {
    gaugeEach(this, (job) => job.lateMs());
  },
});
new Gauge({
  name: "tollbooth_job_running_seconds",
  help: "How long the present run of a job has lasted; 0: none is under way.",
  labelNames: ["name"] as const,
  collect() {
    gaugeEach(this, (job) => job.runningMs());
  },
});
new Gauge({
  name: "tollbooth_job_limit_seconds",
  help: "A process whose job has a longer run than this ends, since the run would never end.",
  labelNames: ["name"] as const,
  collect() {
    gaugeEach(this, (job) => job.limitMs);
  },
});
