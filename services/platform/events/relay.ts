// Publishes the outbox's rows, at least once and in their order as far as commits allow. A row is never given up on.
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

// Measured: 1,000 rows a round gain little over 100 per event.
const batchMax = 500;
// What is announced takes back what others believe, so it is not held back for longer after an outage.
const failurePauseMsMax = 500;

/**
 * One round of the relay: reads unpublished rows, publishes them, waits for every acknowledgement, marks them with
 * their places. There is no cursor, so a transaction that commits late is never passed over, and no claim, so a crash
 * delays nothing: when two replicas publish the same row, the stream keeps one (Nats-Msg-Id).
 * @returns true when there may be more.
 * @throws StreamCut when the stream gave out a place that it had given before: what stood there is lost.
 */
export async function relayOnce(db: Database, bus: EventBus, through = bus.connection): Promise<boolean> {
  const rows = await db.rows<{ seq: string; event_id: string; subject: string; body: Buffer; sent_again: number }>(
    `select seq, event_id, subject, body, sent_again from outbox where published_at is null order by seq limit $1`,
    [batchMax],
  );
  if (rows.length === 0) return false;
  const { epoch, lastSeq } = await readRecord(db);
  // Another connection may lead to a store that was exchanged meanwhile, which nobody has looked at.
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

/** What the broker drops repeats by: another one each time that an operator has the event sent again. */
function offerOf(row: { readonly event_id: string; readonly sent_again: number }): string {
  return row.sent_again === 0 ? row.event_id : `${row.event_id}.${row.sent_again}`;
}

/**
 * The relay, the watch over its stream and the sweeper as jobs. Events leave at once; while the process is busy, they
 * leave together.
 * @param options the size of a new stream; `ackWaitSeconds` of its consumers; `mayPublish` is called before each round
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
    // To a broker that is silent nothing is sent, so that the first round after it is not held up by those before.
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

// When the relay's next round begins. A round of one event costs five times as much per event as a round of ten, so
// events gather while the process has much to do; while it has not, they leave at once.

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
