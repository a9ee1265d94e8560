// Publishes the outbox's rows at least once, in row order as far as commits allow, without ever giving up a row.
import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { EventBus } from "./event-bus.ts";
import { type Outbox, sweepOutbox } from "./outbox.ts";
import { markPublished, readRecord } from "./stream-record.ts";
import { StreamCut, StreamWatch } from "./stream-watch.ts";
import type { StreamSize } from "./streams.ts";

// 1,000 rows per round measured little better than 100.
const batchMax = 500;
// Events invalidate other processes' caches, so recovery after an outage is fast.
const failurePauseMsMax = 500;
// A round of one event costs five times as much per event as a round of ten. A process that is busy for more than half
// of a sample spends a quarter of its time on rounds, at most 25 ms apart; otherwise events leave at once.
const [busyAbove, busyShare, gatherMsMax] = [0.5, 1 / 4, 25];
// Over a shorter time one long task makes an idle process look busy.
const sampleMs = 250;

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
  let sampled = performance.eventLoopUtilization();
  let isBusy = false;
  let nextAt = 0;
  const relay = async () => {
    // Without a broker nothing is sent, so old rounds do not delay the first round after a reconnect.
    if (!bus.connected) return false;
    const waitMs = nextAt - performance.now();
    if (waitMs > 0) await pause(waitMs);
    if (options.mayPublish && !(await options.mayPublish())) return false;
    const startedAt = performance.now();
    try {
      return await relayOnce(db, bus, await watch.checkedConnection());
    } catch (error) {
      await watch.checkAfter(error);
      throw error;
    } finally {
      const now = performance.now();
      const since = performance.eventLoopUtilization(sampled);
      if (since.active + since.idle >= sampleMs) {
        isBusy = since.utilization > busyAbove;
        sampled = performance.eventLoopUtilization();
      }
      nextAt = isBusy ? startedAt + Math.min(gatherMsMax, (now - startedAt) / busyShare) : now;
    }
  };
  return [
    { name: "relay-outbox", everyMs: 250, failurePauseMsMax, runOnce: relay, wake: outbox.relay },
    watch.job,
    { name: "sweep-outbox", everyMs: 600_000, runOnce: () => sweepOutbox(db) },
  ];
}
