// A payment that moves to another account after a decline. The caller holds the payment's lock for each change.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { NextAccount } from "./payment-columns.ts";

/** The failure code of the payment's last attempt, as its processor reports it. */
export async function findDeclineCode(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql.rows<{ code: string }>(
    `select a.failure_code as code from payments p
     join attempts a on a.payment_id = p.id and a.ref = p.last_attempt_ref and a.outcome = 'failed'
     where p.id = $1 and p.outcome = 'failed' and p.routing_reason <> 'session'`,
    [id],
  );
  return row?.code;
}

/** Begins the move of a declined payment. @returns false: it has moved, has no intent, or a command is under way */
export async function beginReroute(tx: Tx, id: string, next: NextAccount): Promise<boolean> {
  const rows = await tx.rows(
    `update payments set reroute_to = $2 where id = $1 and outcome = 'failed' and authorized_at is null
       and former_ref is null and connector_ref is not null
       and not exists (select from operations where payment_id = $1 and state <> 'done') returning id`,
    [id, JSON.stringify(next)],
  );
  return rows.length === 1;
}

/** The payment stays at its account. */
export async function stopReroute(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update payments set reroute_to = null where id = $1`, [id]);
}

/** The declined intent has ended unpaid: the payment is at the next account, where its intent is to be made. */
export async function finishReroute(tx: Tx, id: string, next: NextAccount, tryAfterSeconds: number): Promise<void> {
  // Clocks of two processors differ: the next account's first attempt is newer than any before.
  await tx.rows(
    `with moved as (
       update payments set former_connector = connector, former_account_id = connector_account_id,
         former_ref = connector_ref, connector = $2, connector_account_id = $3, surface = $4, offered_methods = $7,
         connector_ref = null,
         render = null, routing_reason = 'decline', reroute_to = null, last_attempt_at = null, checks = 0,
         next_check_at = now() + make_interval(secs => $5)
       where id = $1 and reroute_to is not null returning id)
     update operations o set state = 'started', tries = 0, generation = generation + 1, key_since = now(),
       next_try_at = now() + make_interval(secs => $5), sent_after = $6, search_after = '', not_found_since = null
     from moved where o.kind = 'create_intent' and o.reference = moved.id`,
    [id, next.connector, next.id, next.surface, tryAfterSeconds, next.sentAfter ?? null, next.offered],
  );
}

/** @returns true: no other run has sent the operation, or will without searching first */
export async function claimFirstTry(sql: Sql, operationId: string): Promise<boolean> {
  const rows = await sql.rows(
    `update operations set tries = 1 where id = $1 and tries = 0 and state = 'started' returning id`,
    [operationId],
  );
  return rows.length === 1;
}
