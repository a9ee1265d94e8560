// Processor events taken in: one row per event of a connector, so that a repeat changes nothing.
import type { Sql, Tx } from "#platform/database.ts";

/** Records the event. @returns false when it was recorded before. */
export async function insertProcessorEvent(
  tx: Tx,
  event: { connector: string; id: string; type: string; paymentId: string | undefined },
): Promise<boolean> {
  const rows = await tx.rows(
    `insert into processor_events (connector, event_id, type, payment_id) values ($1, $2, $3, $4)
     on conflict do nothing returning event_id`,
    [event.connector, event.id, event.type, event.paymentId ?? null],
  );
  return rows.length === 1;
}

/** True when the event was recorded before. */
export async function isKnownEvent(sql: Sql, connector: string, id: string): Promise<boolean> {
  const rows = await sql.rows(`select 1 from processor_events where connector = $1 and event_id = $2`, [connector, id]);
  return rows.length === 1;
}

/** Says why the event moved nothing. */
export async function noteProcessorEvent(tx: Tx, connector: string, id: string, note: string): Promise<void> {
  await tx.rows(`update processor_events set note = $3 where connector = $1 and event_id = $2`, [
    connector,
    id,
    note.slice(0, 500),
  ]);
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
