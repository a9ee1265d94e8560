// Lanes that have proven nothing (new ones, and silent ones) send one after the other. Each opens a connection, whose
// TLS handshake takes 1–2 ms of this process: two hundred endpoints that time out together would otherwise be tried
// again together, and everyone else would wait meanwhile.
import type { Lane } from "./lane.ts";

/**
 * Between two of them, milliseconds: their handshakes take a tenth of a core at most. An answer lets the next go at
 * once, so that living endpoints are found as fast as they answer.
 */
export const probeEveryMs = 25;

export class Probes {
  readonly #fresh = new Set<Lane>();
  readonly #silent = new Set<Lane>();
  #isSilentNext = false;
  #dueAtMs = 0;

  /** When the next of the waiting lanes has its moment; undefined: none waits. */
  get nextAtMs(): number | undefined {
    return this.#fresh.size + this.#silent.size > 0 ? this.#dueAtMs : undefined;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  has(lane: Lane): boolean {
    return this.#fresh.has(lane) || this.#silent.has(lane);
  }

  /** The lane waits for its moment. */
  add(lane: Lane): void {
    (lane.state.silences > 0 ? this.#silent : this.#fresh).add(lane);
  }

  /**
   * The lane that has waited longest; new ones and silent ones alternate, so that neither waits for all of the others.
   */
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

  /** One is under way. */
  begun(nowMs: number): void {
    this.#dueAtMs = nowMs + probeEveryMs;
  }

  /** One was answered. */
  answered(): void {
    this.#dueAtMs = 0;
  }

  *[Symbol.iterator](): Generator<Lane> {
    yield* this.#fresh;
    yield* this.#silent;
  }
}
