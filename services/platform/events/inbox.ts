// The inbox: events that a consumer has applied, recorded in the transaction of their effect.
import type { Sql } from "#platform/database/database.ts";
import { offerDaysMax } from "./streams.ts";

/** Records the events and returns the ids that are new. Call it in the transaction of the effect. */
export async function markConsumed(sql: Sql, consumer: string, eventIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.rows<{ event_id: string }>(
    `insert into inbox (consumer, event_id) select $1, id from unnest($2::text[]) as id
     on conflict do nothing returning event_id`,
    [consumer, [...eventIds]],
  );
  return new Set(rows.map((row) => row.event_id));
}

const sweepMax = 5_000;

/** Deletes rows that no stream can redeliver any more. @returns true when more may remain */
export async function sweepInbox(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from inbox where (consumer, event_id) in (
       select consumer, event_id from inbox where received_at < now() - make_interval(days => $1) limit $2)
     returning event_id`,
    [offerDaysMax, sweepMax],
  );
  return rows.length === sweepMax;
}
