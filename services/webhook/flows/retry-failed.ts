// Begins a run over all failed deliveries of an endpoint since a time, in one transaction; a job works it off.
import type { MappedDatabase } from "#platform/database/mapped-database.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { findEndpoint, type Owner } from "../store/endpoints.ts";
import { firstDeliveryIdOf } from "../store/partitions.ts";
import { insertRetryRun, type RetryRunRow } from "../store/retry-runs.ts";

export interface RetryFailedDeps {
  readonly db: MappedDatabase;
  /** Told after the commit. */
  readonly onRun: () => void;
}

/** @param since deliveries that were queued then or later @throws NOT_FOUND */
export async function retryFailed(
  deps: RetryFailedDeps,
  owner: Owner,
  endpointId: string,
  since: Date,
): Promise<RetryRunRow> {
  const run = await deps.db.transaction(async (tx) => {
    if (!(await findEndpoint(tx.em, owner, endpointId))) throw new Failure("NOT_FOUND");
    return await insertRetryRun(tx, {
      merchantId: owner.merchantId,
      environment: owner.environment,
      id: newId("operation"),
      endpointId,
      fromId: firstDeliveryIdOf(Math.max(0, since.getTime())),
      untilId: firstDeliveryIdOf(clockMs() + 1),
    });
  });
  if (!run) throw new Failure("INTERNAL_ERROR");
  deps.onRun();
  return run;
}
