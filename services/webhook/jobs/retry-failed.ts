// Works off the runs that put failed deliveries back into the queue, one transaction per step; a run goes on wherever a
// crashed process has left it.
import type { Database } from "#platform/database/database.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import type { LaneKey } from "../store/delivery-queue.ts";
import { stepRetryRun } from "../store/retry-runs.ts";

const everyMs = 2_000;

/** @param wakeLane called with each lane that has work, after the commit */
export function retryFailedJob(db: Database, wakeLane: (lane: LaneKey) => void, wake: Wake): JobContext {
  const runOnce = async () => {
    const lane = await db.transaction((tx) => stepRetryRun(tx));
    if (lane === "idle") return false;
    wakeLane(lane);
    return true;
  };
  return { name: "retry-failed-deliveries", everyMs, runOnce, wake };
}
