// The table retry_runs: runs that put an endpoint's failed deliveries back into the queue, and their progress.
import type { Sql, Tx } from "#platform/database/database.ts";
import { requeueText } from "./deliveries.ts";
import type { LaneKey } from "./delivery-queue.ts";
import type { Owner } from "./endpoints.ts";

export interface RetryRunRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly status: "running" | "finished";
  /** int8 as text. */
  readonly total: string;
  readonly queued: string;
  readonly created_at: string;
}

export const runColumns = "id, endpoint_id, status, total, queued, created_at";
// Counting more takes longer than a caller waits. The run itself has no such limit.
const countMax = 1_000_000;

/** Starts a run over the endpoint's failed deliveries from `fromId` until before `untilId`. */
export async function insertRetryRun(
  sql: Sql,
  run: Owner & { readonly id: string; readonly endpointId: string; readonly fromId: string; readonly untilId: string },
): Promise<RetryRunRow | undefined> {
  const [row] = await sql.rows<RetryRunRow>(
    `insert into retry_runs (merchant_id, id, environment, endpoint_id, place, until_id, total)
     select $1, $2, $3::smallint, $4, $5, $6, count(*) from (
       select from deliveries where merchant_id = $1 and endpoint_id = $4 and id > $5 and id < $6 and state = 'failed'
       limit ${countMax}) as failed
     returning ${runColumns}`,
    [run.merchantId, run.id, run.environment, run.endpointId, run.fromId, run.untilId],
  );
  return row;
}

export async function findRetryRun(sql: Sql, owner: Owner, id: string): Promise<RetryRunRow | undefined> {
  const [row] = await sql.rows<RetryRunRow>(
    `select ${runColumns} from retry_runs where merchant_id = $1 and id = $2 and environment = $3`,
    [owner.merchantId, id, owner.environment],
  );
  return row;
}

// One transaction's worth: about 20 ms.
const stepMax = 500;

/**
 * Puts the next failed deliveries of the oldest run that no other process has locked back into the queue, due now.
 * @returns the lane that has work now, or "idle" if there is no run
 */
export async function stepRetryRun(tx: Tx): Promise<LaneKey | "idle"> {
  const [run] = await tx.rows<{
    merchant_id: string;
    id: string;
    endpoint_id: string;
    place: string;
    until_id: string;
  }>(
    `select merchant_id, id, endpoint_id, place, until_id from retry_runs where status = 'running'
     order by created_at limit 1 for update skip locked`,
    [],
  );
  if (!run) return "idle";
  const moved = await tx.rows<{ id: string }>(
    requeueText(
      `id in (select id from deliveries
         where merchant_id = $1 and endpoint_id = $2 and id > $3 and id < $4 and state = 'failed'
         order by id limit ${stepMax})`,
    ),
    [run.merchant_id, run.endpoint_id, run.place, run.until_id],
  );
  const isFinished = moved.length < stepMax;
  const cursor =
    moved
      .map((row) => row.id)
      .sort()
      .at(-1) ?? run.place;
  await tx.rows(
    `update retry_runs set place = $3, queued = queued + $4,
       status = case when $5 then 'finished' else 'running' end, finished_at = case when $5 then now() end
     where merchant_id = $1 and id = $2`,
    [run.merchant_id, run.id, cursor, moved.length, isFinished],
  );
  return { merchantId: run.merchant_id, endpointId: run.endpoint_id };
}

// As long as the deliveries of a run are kept.
export const keepDays = 90;

/** Deletes runs that finished before the retention time. */
export async function sweepRetryRuns(sql: Sql): Promise<void> {
  await sql.rows(
    "delete from retry_runs where status = 'finished' and finished_at < now() - make_interval(days => $1)",
    [keepDays],
  );
}
