// How long clients got nothing done after each disturbance: the longest pause between two operations that ended,
// whichever client's.
const everyMs = 20;

interface Outage {
  readonly name: string;
  readonly untilMs: number;
  longestMs: number;
}

export class OutageWatch {
  readonly #operations: () => number;
  readonly #watchMs: number;
  readonly #outages: Outage[] = [];
  readonly #timer: NodeJS.Timeout;
  #seen = 0;
  #since = performance.now();

  /** @param operations that have ended so far. @param watchMs how long each disturbance is watched. */
  constructor(operations: () => number, watchMs: number) {
    this.#operations = operations;
    this.#watchMs = watchMs;
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** Something is disturbed now. */
  begin(name: string): void {
    this.#since = performance.now();
    this.#outages.push({ name, untilMs: this.#since + this.#watchMs, longestMs: 0 });
  }

  /** In words; of the disturbances of this name. */
  line(name: string): string {
    const times = this.#outages
      .flatMap((outage) => (outage.name === name ? outage.longestMs / 1_000 : []))
      .sort((a, b) => a - b);
    const [median = 0, longest = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
    return `${name}: ${times.length} times; nothing served for ${median.toFixed(1)} s (median), ${longest.toFixed(1)} s at most`;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const [now, operations] = [performance.now(), this.#operations()];
    const outage = this.#outages.at(-1);
    if (outage && now < outage.untilMs) outage.longestMs = Math.max(outage.longestMs, now - this.#since);
    if (operations === this.#seen) return;
    this.#seen = operations;
    this.#since = now;
  }
}
