// Ends what has served its time: pending deliveries of deleted endpoints, at once; pending ones that are far over their time; inbox
// rows that no stream can repeat; finished retry runs; endpoints whose last history is gone.
import type { Database } from "#platform/database.ts";
import { sweepInbox } from "#platform/inbox.ts";
import type { JobContext } from "#platform/job.ts";
import type { Outbox } from "#platform/outbox.ts";
import { announceGivenUp } from "../flows/announce-given-up.ts";
import { ageMaxMs, type Schedule } from "../rules/schedule.ts";
import { giveUpOverdue } from "../store/attempts.ts";
import { dropQueueOfDeleted } from "../store/delivery-queue.ts";
import { dropForgottenEndpoints } from "../store/endpoints.ts";
import { sweepRetryRuns } from "../store/retry-runs.ts";

const hourMs = 3_600_000;

export interface SweepDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly schedule: Schedule;
  /** Given a function that looks for deleted endpoints' deliveries now. */
  readonly onStart: (wake: () => void) => void;
}

export function sweepJobs({ db, outbox, schedule, onStart }: SweepDeps): readonly JobContext[] {
  const sweepOld = async () => {
    await sweepRetryRuns(db);
    await dropForgottenEndpoints(db);
    return false;
  };
  return [
    { name: "sweep-deleted-endpoints", everyMs: 60_000, runOnce: () => dropQueueOfDeleted(db), onStart },
    { name: "sweep-overdue", everyMs: hourMs, runOnce: () => sweepOverdue(db, outbox, schedule) },
    { name: "sweep-inbox", everyMs: 600_000, runOnce: () => sweepInbox(db) },
    { name: "sweep-old", everyMs: hourMs, runOnce: sweepOld },
  ];
}

/** One step. @returns true when there may be more */
export async function sweepOverdue(db: Database, outbox: Outbox, schedule: Schedule): Promise<boolean> {
  const count = await db.transaction(async (tx) => {
    const givenUp = await giveUpOverdue(tx, ageMaxMs(schedule));
    await announceGivenUp(tx, outbox, givenUp);
    return givenUp.length;
  });
  if (count > 0) outbox.poke();
  return count > 0;
}
