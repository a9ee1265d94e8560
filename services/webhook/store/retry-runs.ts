// The table retry_runs: runs that put an endpoint's failed deliveries back into the queue, and how far they are.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { LaneKey } from "./delivery-queue.ts";
import type { Owner } from "./endpoints.ts";

/** A run. */
export interface RetryRunRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly status: "running" | "finished";
  /** int8 as text. */
  readonly total: string;
  readonly queued: string;
  readonly created_at: string;
}

const runColumns = "id, endpoint_id, status, total, queued, created_at";
// Counting more takes longer than anyone waits; the run itself has no such bound.
const countMax = 1_000_000;

/**
 * Begins a run over the endpoint's failed deliveries with ids from `fromId` up to and without `untilId`.
 * @returns the run
 */
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

/** The owner's run. */
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
 * One step of the oldest run that no other process is working on: moves its next failed deliveries into the queue, due
 * now.
 * @returns the lane that has work now; "idle" when there is no run
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
    `with chosen as (
       select id from deliveries
       where merchant_id = $1 and endpoint_id = $2 and id > $3 and id < $4 and state = 'failed' order by id limit ${stepMax}
     ), gone as (
       delete from deliveries d using chosen c where d.merchant_id = $1 and d.endpoint_id = $2 and d.id = c.id returning d.*
     )
     insert into delivery_queue (merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, attempts, generation,
       status_code, last_error, created_at, trigger)
     select merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, attempts, generation + 1, status_code,
       last_error, created_at, 'manual' from gone
     returning id`,
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

// As long as the deliveries that a run could be asked about.
const keepDays = 90;

/** Deletes finished runs past their keeping time. */
export async function sweepRetryRuns(sql: Sql): Promise<void> {
  await sql.rows(
    "delete from retry_runs where status = 'finished' and finished_at < now() - make_interval(days => $1)",
    [keepDays],
  );
}
