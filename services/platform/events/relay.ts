// Publishes the outbox's rows at least once, in row order as far as commits allow, without ever giving up a row.
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { EventBus } from "./event-bus.ts";
import type { StreamSize } from "./make-streams.ts";
import { type Outbox, sweepOutbox } from "./outbox.ts";
import { markPublished, readRecord } from "./stream-record.ts";
import { StreamCut, StreamWatch } from "./stream-watch.ts";

// 1,000 rows per round measured little better than 100.
const batchMax = 500;
// Events invalidate other processes' caches, so recovery after an outage is fast.
const failurePauseMsMax = 500;

/**
 * One round: reads unpublished rows, publishes them, waits for every acknowledgement and stores their positions.
 * Without a cursor, late commits are not skipped; without a claim, a crash delays nothing. When two replicas publish
 * the same row, the stream keeps one (Nats-Msg-Id).
 * @returns true when more may remain
 * @throws StreamCut when the stream reused a position: its previous event is lost
 */
export async function relayOnce(db: Database, bus: EventBus, through = bus.connection): Promise<boolean> {
  const rows = await db.rows<{ seq: string; event_id: string; subject: string; body: Buffer; sent_again: number }>(
    `select seq, event_id, subject, body, sent_again from outbox where published_at is null order by seq limit $1`,
    [batchMax],
  );
  if (rows.length === 0) return false;
  const { epoch, lastSeq } = await readRecord(db);
  // A new connection may lead to a replaced store that is not checked yet.
  if (bus.connection !== through) return true;
  const sent = await Promise.allSettled(rows.map((row) => bus.publish(row.subject, offerOf(row), row.body)));
  const placed = rows.flatMap(({ seq, event_id: eventId }, i) => {
    const result = sent[i];
    return result?.status === "fulfilled" ? [{ seq, eventId, ...result.value }] : [];
  });
  if (placed.some(({ position, isRepeat }) => !isRepeat && position <= lastSeq)) {
    throw new StreamCut(Math.min(...placed.map(({ position }) => position)) - 1);
  }
  await markPublished(db, epoch, placed);
  const failed = sent.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  return rows.length === batchMax;
}

/** The deduplication id; it changes each time an operator has the event sent again. */
function offerOf(row: { readonly event_id: string; readonly sent_again: number }): string {
  return row.sent_again === 0 ? row.event_id : `${row.event_id}.${row.sent_again}`;
}

/**
 * The relay, the stream watch and the sweeper as jobs. Events leave at once, or together while the process is busy.
 * @param options size of a new stream; `ackWaitSeconds` of its consumers; `mayPublish` is called before each round
 */
export function outboxJobs(
  db: Database,
  bus: EventBus,
  outbox: Outbox,
  options: StreamSize & {
    readonly ackWaitSeconds?: number;
    readonly log: Log;
    readonly registry?: Registry;
    readonly mayPublish?: () => Promise<boolean>;
  },
): readonly JobContext[] {
  const watch = new StreamWatch({ db, bus, source: outbox.source, ...options });
  const pace = new RelayPace();
  const relay = async () => {
    // Without a broker nothing is sent, so old rounds do not delay the first round after a reconnect.
    if (!bus.connected) return false;
    const waitMs = pace.waitMs(performance.now());
    if (waitMs > 0) await pause(waitMs);
    if (options.mayPublish && !(await options.mayPublish())) return false;
    const startedAt = performance.now();
    try {
      return await relayOnce(db, bus, await watch.checkedConnection());
    } catch (error) {
      await watch.checkAfter(error);
      throw error;
    } finally {
      pace.ended(startedAt, performance.now());
    }
  };
  return [
    { name: "relay-outbox", everyMs: 250, failurePauseMsMax, runOnce: relay, wake: outbox.relay },
    watch.job,
    { name: "sweep-outbox", everyMs: 600_000, runOnce: () => sweepOutbox(db) },
  ];
}

// Paces relay rounds. A round of one event costs five times as much per event as a round of ten, so events gather while
// the process is busy and leave at once otherwise.

// Share of time for rounds while the process is busy.
const busyShare = 1 / 4;
const gatherMsMax = 25;
// A process that idles more than half of the time has capacity.
const busyAbove = 0.5;
// Over a shorter time one long task makes an idle process look busy.
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

  /** Milliseconds until the next round may begin; 0 for now. @param now monotonic milliseconds */
  waitMs(now: number): number {
    return Math.max(0, this.#nextAt - now);
  }

  /** @param startedAt and `now` are monotonic milliseconds */
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
