// Measures the lateness of due deliveries, separately for answering and silent endpoints. A silent endpoint's backlog
// is late by design and must wake no operator; a delivery whose object cannot be read does.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { oldestAwaited } from "../store/awaited-objects.ts";
import { type LaneKey, oldestDue, queueEstimate } from "../store/delivery-queue.ts";

// The usual scrape interval.
const everyMs = 15_000;

interface MeasureDeps {
  readonly db: Database;
  readonly metrics: Pick<WebhookMetrics, "dueLag" | "queueRows">;
  readonly isSilent: (lane: LaneKey) => boolean;
}

export function measureQueueJob(deps: MeasureDeps): JobContext {
  return { name: "measure-queue", everyMs, runOnce: () => measureQueue(deps) };
}

export async function measureQueue({ db, metrics, isSilent }: MeasureDeps): Promise<boolean> {
  const lag = { answering: await oldestAwaited(db), silent: 0 };
  for (const lane of await oldestDue(db)) {
    const endpoints = isSilent(lane) ? "silent" : "answering";
    lag[endpoints] = Math.max(lag[endpoints], lane.lateSeconds);
  }
  metrics.dueLag.set({ endpoints: "answering" }, lag.answering);
  metrics.dueLag.set({ endpoints: "silent" }, lag.silent);
  metrics.queueRows.set(await queueEstimate(db));
  return false;
}
