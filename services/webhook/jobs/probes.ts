// Lets unproven lanes (new and silent ones) send one at a time. Each send opens a connection, whose TLS handshake takes
// 1–2 ms of this process. If 200 endpoints that timed out together were retried together, all other lanes would wait.
import type { Lane } from "./lane.ts";

/**
 * Pause between two probes: their handshakes use at most a tenth of a core. After an answer the next starts at once.
 */
export const probeEveryMs = 25;

export class Probes {
  readonly #fresh = new Set<Lane>();
  readonly #silent = new Set<Lane>();
  #isSilentNext = false;
  #dueAtMs = 0;

  /** When the next probe may start, or undefined if no lane waits. */
  get nextAtMs(): number | undefined {
    return this.#fresh.size + this.#silent.size > 0 ? this.#dueAtMs : undefined;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  has(lane: Lane): boolean {
    return this.#fresh.has(lane) || this.#silent.has(lane);
  }

  add(lane: Lane): void {
    (lane.state.silences > 0 ? this.#silent : this.#fresh).add(lane);
  }

  /** Removes the lane that has waited longest. New and silent lanes alternate, so neither kind starves the other. */
  take(): Lane | undefined {
    this.#isSilentNext = !this.#isSilentNext;
    const [first, second] = this.#isSilentNext ? [this.#silent, this.#fresh] : [this.#fresh, this.#silent];
    for (const set of [first, second]) {
      for (const lane of set) {
        set.delete(lane);
        return lane;
      }
    }
    return undefined;
  }

  begun(nowMs: number): void {
    this.#dueAtMs = nowMs + probeEveryMs;
  }

  answered(): void {
    this.#dueAtMs = 0;
  }

  *[Symbol.iterator](): Generator<Lane> {
    yield* this.#fresh;
    yield* this.#silent;
  }
}
