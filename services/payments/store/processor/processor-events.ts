// Processor events taken in: one row per event of a connector, so that a repeat changes nothing.
import type { Sql } from "#platform/database/database.ts";

const noteMax = 500;

/**
 * Records the event. @param event `note`: why it moved nothing; may be empty. @returns false when it was recorded
 * before.
 */
export async function insertProcessorEvent(
  sql: Sql,
  event: { connector: string; id: string; type: string; paymentId: string | undefined; note: string },
): Promise<boolean> {
  const rows = await sql.rows(
    `insert into processor_events (connector, event_id, type, payment_id, note) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning event_id`,
    [event.connector, event.id, event.type, event.paymentId ?? null, event.note.slice(0, noteMax)],
  );
  return rows.length === 1;
}

/** True when the event was recorded before. */
export async function isKnownEvent(sql: Sql, connector: string, id: string): Promise<boolean> {
  const rows = await sql.rows(`select 1 from processor_events where connector = $1 and event_id = $2`, [connector, id]);
  return rows.length === 1;
}

/** Those that were not recorded before. */
export async function unknownEvents(sql: Sql, connector: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($2::text[]) as listed (id)
     where not exists (select from processor_events e where e.connector = $1 and e.event_id = listed.id)`,
    [connector, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

// Processors repeat an event for days at most.
const keepDays = 90;
const sweepMax = 5_000;

/** Deletes rows past their keeping time. @returns true when there may be more. */
export async function sweepProcessorEvents(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from processor_events where (connector, event_id) in (
       select connector, event_id from processor_events where received_at < now() - make_interval(days => $1) limit $2)
     returning event_id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
