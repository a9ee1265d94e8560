// Folds the deltas of counted lists into their counters (schema/0004-list-counts.sql). In every snapshot counters plus
// deltas equal the number of rows; folding only keeps deltas few, so totals stay exact without it.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";

// Folding this many takes about 0.2 s; a reader adds up at most the deltas of a few seconds.
const foldMax = 20_000;
const everyMs = 1_000;
// Folded deltas are dead rows that readers still pass; autovacuum runs once per minute at most.
const deadMax = 20_000;
// Any number that is not locked elsewhere in these databases.
const foldLock = 7_655_220;

const foldText = `
  with taken as (
    delete from list_deltas where ctid = any (array(select ctid from list_deltas limit $1))
    returning merchant_id, environment, list, (at at time zone 'UTC')::date as day, status, amount, n),
  cells as (
    select merchant_id, environment, list, grain, starts, status, bucket, sum(taken.n) as n from taken cross join lateral (values
      ('day', day, -1),
      ('week', day - (extract(isodow from day)::int - 1), width_bucket(amount, $2::bigint[]) - 1)) as cell (grain, starts, bucket)
    where grain = 'day' or amount is not null
    group by 1, 2, 3, 4, 5, 6, 7),
  folded as (
    insert into list_counts select * from cells
    on conflict (merchant_id, environment, list, grain, starts, status, bucket)
      do update set n = list_counts.n + excluded.n)
  select count(*) as taken from taken`;

/**
 * Folds once; replicas take turns.
 * @param bucketStarts the lowest amount of each bucket, ascending, for lists with a filter by amount
 * @returns the number of folded deltas
 */
export async function foldListCounts(db: Database, bucketStarts: readonly number[], limit = foldMax): Promise<number> {
  return await db.transaction(async (tx) => {
    const [lock] = await tx.rows<{ got: boolean }>("select pg_try_advisory_xact_lock($1) as got", [foldLock]);
    if (!lock?.got) return 0;
    const [row] = await tx.rows<{ taken: string }>(foldText, [limit, bucketStarts]);
    return Number(row?.taken ?? 0);
  });
}

export function listCountsJob(db: Database, bucketStarts: readonly number[] = []): JobContext {
  let dead = 0;
  const runOnce = async () => {
    const folded = await foldListCounts(db, bucketStarts);
    dead += folded;
    if (folded === foldMax) return true;
    if (dead >= deadMax) await db.rows("vacuum (truncate false) list_deltas");
    dead = dead >= deadMax ? 0 : dead;
    return false;
  };
  return { name: "fold-list-counts", everyMs, runOnce };
}
