// Records finished attempts in batches, since a transaction for many costs hardly more than for one. Nothing is given
// up: while the database is away the attempts wait here, and the dispatcher sends nothing more when too many do.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { announceTrouble } from "../flows/announce-trouble.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { isTrouble } from "../rules/delivery.ts";
import { type FinishedAttempt, recordAttempts, type Trouble } from "../store/attempts.ts";

// A batch this large takes about 5 ms in PostgreSQL; more gain little per attempt.
const batchMax = 256;
// How long the first of a batch waits for company; a batch under way gathers the next one anyway.
const gatherMs = 2;
// One is written while the other gathers and encodes.
const writersMax = 2;
const pauseFirstMs = 100;
const pauseMaxMs = 2_000;
/** With more than this unrecorded, nothing is sent until the database is back; an attempt takes about 1 KiB. */
export const unrecordedMax = 4_096;

export class AttemptRecorder {
  readonly #db: Database;
  readonly #outbox: Outbox;
  readonly #log: Log;
  readonly #metrics: WebhookMetrics;
  readonly #owner: string;
  readonly #gathered: FinishedAttempt[] = [];
  #unrecorded = 0;
  #writers = 0;
  #gathering: NodeJS.Timeout | undefined;
  #idle: () => void = () => {};
  #isClosing = false;

  constructor(options: {
    db: Database;
    outbox: Outbox;
    log: Log;
    metrics: WebhookMetrics;
    owner: string;
  }) {
    this.#db = options.db;
    this.#outbox = options.outbox;
    this.#log = options.log;
    this.#metrics = options.metrics;
    this.#owner = options.owner;
  }

  get unrecorded(): number {
    return this.#unrecorded;
  }

  /** What comes after `close` is dropped: its claim ends, and another process sends it again. */
  add(attempt: FinishedAttempt): void {
    if (this.#isClosing) return;
    this.#metrics.countAttempt(attempt);
    this.#gathered.push(attempt);
    this.#unrecorded += 1;
    if (this.#gathered.length >= batchMax) this.#startWriter();
    else this.#gathering ??= setTimeout(() => this.#startWriter(), gatherMs);
  }

  /**
   * Waits until everything is recorded, or the database is away; what is not recorded is sent again by another process.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#startWriter();
    if (this.#writers > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #startWriter(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#writers >= writersMax || this.#gathered.length === 0) return;
    this.#writers += 1;
    void this.#write().finally(() => {
      this.#writers -= 1;
      if (this.#writers === 0) this.#idle();
    });
  }

  async #write(): Promise<void> {
    while (this.#gathered.length > 0) {
      const batch = this.#gathered.splice(0, batchMax);
      this.#metrics.recordBatch.observe(batch.length);
      const isRecorded = await this.#recordUntilDone(batch);
      this.#unrecorded -= batch.length;
      if (!isRecorded) return;
    }
  }

  /** @returns false when it gave way to the end of the process */
  async #recordUntilDone(batch: readonly FinishedAttempt[]): Promise<boolean> {
    for (let failures = 0; ; failures++) {
      try {
        await this.#record(batch);
        return true;
      } catch (error) {
        if (failures === 0)
          this.#log.warn({ err: error, attempts: batch.length }, "attempts not recorded; trying again");
        if (this.#isClosing) return false;
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseFirstMs * 2 ** failures, pauseMaxMs)));
      }
    }
  }

  async #record(batch: readonly FinishedAttempt[]): Promise<void> {
    if (!batch.some(({ verdict, delivery }) => isTrouble(verdict, delivery.tries))) {
      await recordAttempts(this.#db, this.#owner, batch);
      return;
    }
    let troubles: Trouble[] = [];
    await this.#db.transaction(async (tx) => {
      troubles = await recordAttempts(tx, this.#owner, batch);
      await announceTrouble(tx, this.#outbox, troubles);
    });
    if (troubles.length > 0) this.#outbox.wake();
  }
}
