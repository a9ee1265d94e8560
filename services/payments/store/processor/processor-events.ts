// The processor_events table: one row per applied event of a connector, so that a repeat changes nothing.
import { asJson, inOrder } from "#platform/database/batch.ts";
import type { GroupedSql, Sql } from "#platform/database/database.ts";

const noteMax = 500;

interface ConsumedEvent {
  readonly connector: string;
  readonly id: string;
  readonly type: string;
  readonly paymentId: string | undefined;
  /** Why the event changed nothing; may be empty. */
  readonly note: string;
}

/** @returns false: the event was recorded before */
export async function insertProcessorEvent(sql: GroupedSql, event: ConsumedEvent): Promise<boolean> {
  return await sql.batched(insertProcessorEvents, event);
}

async function insertProcessorEvents(sql: Sql, events: readonly ConsumedEvent[]): Promise<boolean[]> {
  const rows = await sql.rows<{ connector: string; event_id: string }>(
    `insert into processor_events (connector, event_id, type, payment_id, note)
     select * from jsonb_to_recordset($1) as e (connector text, event_id text, type text, payment_id text, note text)
     on conflict do nothing returning connector, event_id`,
    [asJson(inOrder(events.map(rowOf), "event_id"))],
  );
  // Of two equal events the first was recorded.
  const fresh = new Set(rows.map((row) => JSON.stringify([row.connector, row.event_id])));
  return events.map(({ connector, id }) => fresh.delete(JSON.stringify([connector, id])));
}

function rowOf({ connector, id, type, paymentId, note }: ConsumedEvent) {
  return { connector, event_id: id, type, payment_id: paymentId, note: note.slice(0, noteMax) };
}

export async function isKnownEvent(sql: Sql, connector: string, id: string): Promise<boolean> {
  const rows = await sql.rows(`select 1 from processor_events where connector = $1 and event_id = $2`, [connector, id]);
  return rows.length === 1;
}

/** The ids that were not recorded before. */
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

/** Deletes old rows. @returns true: there may be more */
export async function sweepProcessorEvents(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from processor_events where (connector, event_id) in (
       select connector, event_id from processor_events where received_at < now() - make_interval(days => $1) limit $2)
     returning event_id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
