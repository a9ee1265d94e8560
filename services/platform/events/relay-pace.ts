// When the relay's next round begins. A round of one event costs five times as much per event as a round of ten, so
// events gather while the process has much to do; while it has not, they leave at once.
import { type EventLoopUtilization, performance } from "node:perf_hooks";

// Of the time that rounds may fill while the process is busy.
const busyShare = 1 / 4;
const gatherMsMax = 25;
// A process that waits for more than half of the time has enough of it left.
const busyAbove = 0.5;
// Over less time one long turn makes an idle process look busy.
const sampleMs = 250;

export class RelayPace {
  readonly #sinceStart: () => EventLoopUtilization;
  #last: EventLoopUtilization;
  #isBusy = false;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(sinceStart: () => EventLoopUtilization = performance.eventLoopUtilization) {
    this.#sinceStart = sinceStart;
    this.#last = sinceStart();
  }

  /** How long the next round waits from now, milliseconds; 0: it may begin. @param now monotonic milliseconds */
  waitMs(now: number): number {
    return Math.max(0, this.#nextAt - now);
  }

  /** A round is over. @param startedAt and `now` are monotonic milliseconds */
  ended(startedAt: number, now: number): void {
    this.#sample();
    this.#nextAt = this.#isBusy ? startedAt + Math.min(gatherMsMax, (now - startedAt) / busyShare) : now;
  }

  #sample(): void {
    const seen = this.#sinceStart();
    const active = seen.active - this.#last.active;
    const whole = active + seen.idle - this.#last.idle;
    if (whole < sampleMs) return;
    this.#isBusy = active / whole > busyAbove;
    this.#last = seen;
  }
}
