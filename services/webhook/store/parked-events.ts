// The table parked_events: events that cannot become deliveries, kept for people.
import type { Sql } from "#platform/database.ts";

/** Keeps the event; one that is there already stays. */
export async function parkEvent(
  sql: Sql,
  event: { readonly id: string; readonly type: string; readonly problem: string; readonly body: Uint8Array },
): Promise<void> {
  await sql.rows(
    `insert into parked_events (event_id, type, problem, body) values ($1, $2, $3, $4) on conflict do nothing`,
    [event.id, event.type, event.problem, Buffer.from(event.body)],
  );
}
