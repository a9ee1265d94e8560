// The table replay_runs: runs that queue a merchant's events for which an endpoint has no delivery, oldest first, and
// their progress. Each event becomes at most one delivery, whatever runs at once.
import type { Sql, Tx } from "#platform/database/database.ts";
import { deliveryIdText, type LaneKey } from "./delivery-queue.ts";
import type { Endpoint, Owner } from "./endpoints.ts";
import { keepDays, type RetryRunRow, runColumns } from "./retry-runs.ts";

interface NewReplayRun extends Owner {
  readonly id: string;
  readonly endpointId: string;
  readonly eventTypes: readonly string[];
  readonly fromId: string;
  /** Exclusive. */
  readonly untilId: string;
}

// Counting more takes longer than a caller waits. The run itself has no such limit.
const countMax = 100_000;

/** Starts a run over the events from `fromId` on. */
export async function insertReplayRun(sql: Sql, run: NewReplayRun): Promise<RetryRunRow | undefined> {
  const [row] = await sql.rows<RetryRunRow>(
    `with next as (${nextText(countMax)})
     insert into replay_runs (merchant_id, environment, endpoint_id, event_types, place, until_id, id, total)
     select $1, $2::smallint, $3, $4::text[], $5, $6, $7, (select count(*) from next where ${isMissing})
     returning ${runColumns}`,
    [run.merchantId, run.environment, run.endpointId, run.eventTypes, run.fromId, run.untilId, run.id],
  );
  return row;
}

export async function findReplayRun(sql: Sql, owner: Owner, id: string): Promise<RetryRunRow | undefined> {
  const [row] = await sql.rows<RetryRunRow>(
    `select ${runColumns} from replay_runs where merchant_id = $1 and id = $2 and environment = $3`,
    [owner.merchantId, id, owner.environment],
  );
  return row;
}

// One transaction's worth: about 50 ms.
const stepMax = 500;

/**
 * Queues the next missing deliveries of the oldest run that no other process has locked, due now, or once their objects
 * are read.
 * @returns the lane that has work now, or "idle" if there is no run
 */
export async function stepReplayRun(tx: Tx): Promise<LaneKey | "idle"> {
  const [run] = await tx.rows<StoredRun>(
    `select merchant_id, id, environment, endpoint_id, event_types, place, until_id from replay_runs
     where status = 'running' order by created_at limit 1 for update skip locked`,
    [],
  );
  if (!run) return "idle";
  // Two runs of an endpoint take turns: the second one's next statement sees all deliveries of the first.
  const [live] = await tx.rows<Pick<Endpoint, "payload">>(
    "select payload from endpoints where merchant_id = $1 and id = $2 and deleted_at is null for no key update",
    [run.merchant_id, run.endpoint_id],
  );
  const { seen, place, queued } = live ? await queueNext(tx, run, live.payload) : { seen: 0, place: null, queued: 0 };
  await tx.rows(
    `update replay_runs set place = $3, queued = queued + $4,
       status = case when $5 then 'finished' else 'running' end, finished_at = case when $5 then now() end
     where merchant_id = $1 and id = $2`,
    [run.merchant_id, run.id, place ?? run.place, queued, seen < stepMax],
  );
  return { merchantId: run.merchant_id, endpointId: run.endpoint_id };
}

interface StoredRun {
  readonly merchant_id: string;
  readonly id: string;
  readonly environment: number;
  readonly endpoint_id: string;
  readonly event_types: readonly string[];
  readonly place: string;
  readonly until_id: string;
}

interface Step {
  readonly seen: number;
  readonly place: string | null;
  readonly queued: number;
}

/** Where a missing delivery goes, by the endpoint's payload. */
const addText = {
  reference: `insert into delivery_queue
      (merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, trigger)
    select $1, $3, ${deliveryIdText("next.id", "$3")}, next.id, next.type, next.payment_id, next.body, 'manual'`,
  object: `insert into awaited_objects (merchant_id, environment, endpoint_id, event_id, event_type, trigger)
    select $1, $2::smallint, $3, next.id, next.type, 'manual'`,
};

async function queueNext(tx: Tx, run: StoredRun, payload: keyof typeof addText): Promise<Step> {
  const [step] = await tx.rows<Step>(
    `with next as (${nextText(stepMax)}), added as (
       ${addText[payload]} from next where ${isMissing} on conflict do nothing returning event_id)
     select (select count(*) from next)::int as seen, (select max(id) from next) as place,
       (select count(*) from added)::int as queued`,
    [run.merchant_id, run.environment, run.endpoint_id, run.event_types, run.place, run.until_id],
  );
  if (!step) throw new Error("the step returned nothing");
  return step;
}

/** A run's next events, oldest first: $1 merchant, $2 environment, $4 types, $5 after this id, $6 before this one. */
function nextText(limit: number): string {
  return `select e.* from unnest($4::text[]) as wanted (type)
     cross join lateral (
       select id, type, payment_id, body from events where merchant_id = $1 and environment = $2::smallint
         and events.type = wanted.type and id > $5 and id < $6 order by id limit ${limit}) as e
     order by e.id limit ${limit}`;
}

// A delivery is in one of two tables. `offset 0` keeps each search a lookup by key: a join would read all deliveries.
const isMissing = ["delivery_queue", "deliveries"]
  .map(
    (table) => `not exists (select from ${table} d where d.merchant_id = $1 and d.endpoint_id = $3
       and d.id = ${deliveryIdText("next.id", "$3")} offset 0)`,
  )
  .join(" and ");

/** Deletes runs that finished before the retention time. */
export async function sweepReplayRuns(sql: Sql): Promise<void> {
  await sql.rows(
    "delete from replay_runs where status = 'finished' and finished_at < now() - make_interval(days => $1)",
    [keepDays],
  );
}
