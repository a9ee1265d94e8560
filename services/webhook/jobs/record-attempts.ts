// Records finished attempts in batches: a transaction for many costs little more than one for a single attempt. While
// the database is unavailable attempts wait here, and the dispatcher stops sending if too many wait.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { announceTrouble } from "../flows/announce-trouble.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { isTrouble } from "../rules/delivery.ts";
import { type FinishedAttempt, recordAttempts, type Trouble } from "../store/attempts.ts";

// A batch of this size takes about 5 ms in PostgreSQL; larger ones gain little per attempt.
const batchMax = 256;
// How long the first attempt of a batch waits for others.
const gatherMs = 2;
// One batch is written while the other one is encoded.
const writersMax = 2;
// The third failure of a delivery: a short outage is over by then.
const loggedAtTries = 2;
const pauseFirstMs = 100;
const pauseMaxMs = 2_000;
/** With this many unrecorded attempts, about 1 KiB each, sending stops until the database is available. */
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

  /** Attempts after `close` are dropped: their claims expire, and another process sends the deliveries again. */
  add(attempt: FinishedAttempt): void {
    if (this.#isClosing) return;
    this.#metrics.countAttempt(attempt);
    this.#gathered.push(attempt);
    this.#unrecorded += 1;
    if (this.#gathered.length >= batchMax) this.#startWriter();
    else this.#gathering ??= setTimeout(() => this.#startWriter(), gatherMs);
  }

  /** Waits until all attempts are recorded or the database fails; another process sends unrecorded ones again. */
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

  /** @returns false if the process ends before the batch is recorded */
  async #recordUntilDone(batch: readonly FinishedAttempt[]): Promise<boolean> {
    for (let failures = 0; ; failures++) {
      try {
        await this.#record(batch);
        return true;
      } catch (error) {
        if (failures === 0) this.#log.warn({ err: error, attempts: batch.length }, "attempts not recorded: retrying");
        if (this.#isClosing) return false;
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseFirstMs * 2 ** failures, pauseMaxMs)));
      }
    }
  }

  async #record(batch: readonly FinishedAttempt[]): Promise<void> {
    this.#logFailing(batch);
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

  /** A line per endpoint and batch: an operator finds the endpoints behind the alerts by it. */
  #logFailing(batch: readonly FinishedAttempt[]): void {
    const failing = batch.filter(
      ({ verdict, delivery, log }) =>
        log.errorCode === "blocked_address" || (verdict.kind === "retry" && delivery.tries === loggedAtTries),
    );
    for (const [endpoint, attempts] of Map.groupBy(failing, ({ delivery }) => delivery.endpointId)) {
      const about = { endpoint, merchant_id: attempts[0]?.delivery.merchantId, error: attempts[0]?.log.errorCode };
      this.#log.warn({ ...about, deliveries: attempts.length }, "webhook endpoint fails: retrying");
    }
  }
}
