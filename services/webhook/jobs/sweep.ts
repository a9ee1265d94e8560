// Sweeps pending deliveries of deleted endpoints, overdue deliveries, old inbox rows, finished retry runs, secrets that
// no longer sign, and deleted endpoints without history.
import type { Database } from "#platform/database/database.ts";
import { sweepInbox } from "#platform/events/inbox.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import { announceTrouble } from "../flows/announce-trouble.ts";
import { ageMaxMs, type Schedule } from "../rules/schedule.ts";
import { giveUpOverdue } from "../store/attempts.ts";
import { sweepAwaited } from "../store/awaited-objects.ts";
import { dropQueueOfDeleted } from "../store/delivery-queue.ts";
import { dropEarlierSecrets, dropForgottenEndpoints } from "../store/endpoints.ts";
import { sweepReplayRuns } from "../store/replay-runs.ts";
import { sweepRetryRuns } from "../store/retry-runs.ts";

const hourMs = 3_600_000;

interface SweepDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly schedule: Schedule;
  /** Starts the sweep of deleted endpoints' deliveries. */
  readonly wake: Wake;
}

export function sweepJobs({ db, outbox, schedule, wake }: SweepDeps): readonly JobContext[] {
  const sweepOld = async () => {
    await sweepRetryRuns(db);
    await sweepReplayRuns(db);
    await sweepAwaited(db);
    await dropForgottenEndpoints(db);
    await dropEarlierSecrets(db);
    return false;
  };
  return [
    { name: "sweep-deleted-endpoints", everyMs: 60_000, runOnce: () => dropQueueOfDeleted(db), wake },
    { name: "sweep-overdue", everyMs: hourMs, runOnce: () => sweepOverdue(db, outbox, schedule) },
    { name: "sweep-inbox", everyMs: 600_000, runOnce: () => sweepInbox(db) },
    { name: "sweep-old", everyMs: hourMs, runOnce: sweepOld },
  ];
}

/** @returns true if there may be more */
export async function sweepOverdue(db: Database, outbox: Outbox, schedule: Schedule): Promise<boolean> {
  const count = await db.transaction(async (tx) => {
    const exhausted = await giveUpOverdue(tx, ageMaxMs(schedule));
    await announceTrouble(tx, outbox, exhausted);
    return exhausted.length;
  });
  if (count > 0) outbox.wake();
  return count > 0;
}
