// The table parked_events: events that cannot become deliveries, kept for operators.
import type { Sql } from "#platform/database/database.ts";

/** The reason why the event was parked, or empty if it was not. */
export async function parkedProblem(sql: Sql, eventId: string): Promise<string> {
  const [row] = await sql.rows<{ problem: string }>("select problem from parked_events where event_id = $1", [eventId]);
  return row?.problem ?? "";
}

export async function parkEvent(
  sql: Sql,
  event: { readonly id: string; readonly type: string; readonly problem: string; readonly body: Uint8Array },
): Promise<void> {
  await sql.rows(
    `insert into parked_events (event_id, type, problem, body) values ($1, $2, $3, $4) on conflict do nothing`,
    [event.id, event.type, event.problem, Buffer.from(event.body)],
  );
}
