// What operators see of the jobs of a process: when each last succeeded, how long its run takes, how often it failed. Times are monotonic,
// so that no step of a clock makes a job late.
import { Counter, Gauge } from "prom-client";

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
  readonly #everyMs: number;
  #succeededAt = performance.now();
  #beganAt: number | undefined;

  /** @param everyMs the pause between runs. */
  constructor(name: string, everyMs: number) {
    this.name = name;
    this.#everyMs = everyMs;
    failures.inc({ name }, 0);
    watched.add(this);
  }

  /** Watches one run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#beganAt = performance.now();
    try {
      const done = await work();
      this.#succeededAt = performance.now();
      lastRun.set({ name: this.name }, (this.#succeededAt - this.#beganAt) / 1_000);
      return done;
    } catch (error) {
      failures.inc({ name: this.name });
      throw error;
    } finally {
      this.#beganAt = undefined;
    }
  }

  /** The process has ended it. */
  end(): void {
    watched.delete(this);
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

const watched = new Set<WatchedJob>();

function tell(gauge: Gauge<"name">, ms: (job: WatchedJob) => number): void {
  gauge.reset();
  for (const job of watched) gauge.set({ name: job.name }, ms(job) / 1_000);
}

new Gauge({
  name: "tollbooth_job_late_seconds",
  help: "Since a job should have succeeded again: its latest success, and its pause after it. 0: in time.",
  labelNames: ["name"] as const,
  collect() {
    tell(this, (job) => job.lateMs());
  },
});
new Gauge({
  name: "tollbooth_job_running_seconds",
  help: "How long the present run of a job has lasted; 0: none is under way.",
  labelNames: ["name"] as const,
  collect() {
    tell(this, (job) => job.runningMs());
  },
});
