// Works off the runs that put failed deliveries back into the queue, one transaction per step; a run goes on wherever a crashed
// process has left it.
import type { Database } from "#platform/database.ts";
import type { JobContext } from "#platform/job.ts";
import type { LaneKey } from "../store/delivery-queue.ts";
import { stepRetryRun } from "../store/retry-runs.ts";

const everyMs = 2_000;

/** @param poke told of lanes that have work, after each commit */
export function retryFailedJob(
  db: Database,
  poke: (lane: LaneKey) => void,
  onStart: (wake: () => void) => void,
): JobContext {
  const runOnce = async () => {
    const lane = await db.transaction((tx) => stepRetryRun(tx));
    if (lane === "idle") return false;
    poke(lane);
    return true;
  };
  return { name: "retry-failed-deliveries", everyMs, runOnce, onStart };
}
