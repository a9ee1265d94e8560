// Whether a connection to the broker is heard: asked by a round trip on it, several times a second, since a broker that
// hangs keeps its connections for half a minute. The answer comes behind everything that the broker had for us when it
// was asked, so that whoever hears it has missed nothing from before the question.
import type { NatsConnection } from "nats";

// Three answers are lost before a connection counts as silent.
const everyMs = 250;
// What is believed while it is heard may be outdated by this: a revoked key works for a second at most
// (docs/contract.md §7), and a timer that is late and an answer under way need some of it.
const silentMs = 800;
// After a silence relays publish what waited: a publication that the silence swallowed fails after 5 s and is sent
// again within one more.
const settleMs = 8_000;

export class Hearing {
  readonly #connection: Pick<NatsConnection, "flush">;
  readonly #onReturn: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #begunAt = performance.now();
  #isAsking = false;
  /**
   * When the last question was asked that was answered, and the first one since the last silence. Monotonic
   * milliseconds.
   */
  #heardAt = Number.NEGATIVE_INFINITY;
  #since = Number.POSITIVE_INFINITY;

  /** @param onReturn called at the first answer after a silence, before anybody is told that it is over. */
  constructor(connection: Pick<NatsConnection, "flush">, onReturn: () => void) {
    this.#connection = connection;
    this.#onReturn = onReturn;
    this.#timer = setInterval(() => void this.#ask(), everyMs);
    this.#timer.unref();
    void this.#ask();
  }

  /** The broker answers. */
  get isHeard(): boolean {
    return performance.now() - this.#heardAt < silentMs;
  }

  /** It has answered for so long that nothing from a silence is still to come. */
  get isSure(): boolean {
    return this.isHeard && performance.now() - this.#since >= settleMs;
  }

  /** For how long nothing has been heard, milliseconds. */
  get silentForMs(): number {
    return performance.now() - Math.max(this.#heardAt, this.#begunAt);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One question at a time: those to a broker that hangs do not pile up. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const askedAt = performance.now();
    try {
      await this.#connection.flush();
      const wasSilent = askedAt - this.#heardAt >= silentMs;
      this.#heardAt = askedAt;
      if (!wasSilent) return;
      this.#since = askedAt;
      this.#onReturn();
    } catch {
      // The connection broke or was closed; the next question goes to its successor.
    } finally {
      this.#isAsking = false;
    }
  }
}
