// The operations table: every call that changes something at a processor leaves its row here before it is made.
import type { Sql, Tx } from "#platform/database.ts";

export interface Operation {
  readonly id: string;
  readonly kind: "create_intent" | "create_refund";
  readonly paymentId: string;
  readonly refundId: string;
  readonly reference: string;
  readonly generation: number;
  readonly state: "started" | "done" | "parked";
  readonly keySpent: boolean;
  readonly tries: number;
  /** A try may have been made before: true for every operation that is read back. */
  readonly tried: boolean;
}

interface Row {
  id: string;
  kind: Operation["kind"];
  payment_id: string;
  refund_id: string | null;
  reference: string;
  generation: number;
  state: Operation["state"];
  key_spent: boolean;
  tries: number;
}

/** An operation that nobody has tried yet, as its creator holds it. */
export function firstTry(id: string, kind: Operation["kind"], paymentId: string, refundId = ""): Operation {
  const reference = refundId || paymentId;
  return {
    id,
    kind,
    paymentId,
    refundId,
    reference,
    generation: 1,
    state: "started",
    keySpent: false,
    tries: 0,
    tried: false,
  };
}

/** The idempotency key the processor gets; it changes only when the generation does. */
export function processorKey(operation: Pick<Operation, "id" | "generation">): string {
  return `${operation.id}:${operation.generation}`;
}

export async function findOperation(
  sql: Sql,
  kind: Operation["kind"],
  reference: string,
): Promise<Operation | undefined> {
  const [row] = await sql.rows<Row>(`select * from operations where kind = $1 and reference = $2`, [kind, reference]);
  return row && stored(row);
}

/** What was surely not made is asked for again. */
export async function reopenOperation(
  sql: Sql,
  kind: Operation["kind"],
  reference: string,
  tryAfterSeconds: number,
): Promise<void> {
  await sql.rows(
    `update operations set state = 'started', tries = 1, next_try_at = now() + make_interval(secs => $3)
     where kind = $1 and reference = $2`,
    [kind, reference, tryAfterSeconds],
  );
}

/** Another run goes on with the operation, so that the first one can no longer speak for all tries. */
export async function recordTakeOver(sql: Sql, kind: Operation["kind"], reference: string): Promise<void> {
  await sql.rows(`update operations set tries = greatest(tries, 1) where kind = $1 and reference = $2`, [
    kind,
    reference,
  ]);
}

/** Locks the operation. @returns true when nobody but its creator has tried it. */
export async function lockUntouched(tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx.rows<{ untouched: boolean }>(
    `select tries = 0 and state = 'started' as untouched from operations where id = $1 for update`,
    [id],
  );
  return row?.untouched ?? false;
}

/** The operation has come to its end. */
export async function closeOperation(sql: Sql, kind: Operation["kind"], reference: string): Promise<void> {
  await sql.rows(`update operations set state = 'done' where kind = $1 and reference = $2 and state <> 'done'`, [
    kind,
    reference,
  ]);
}

/** Remembers a fault of the processor under the current key: after proof of absence the next try may take a new key. */
export async function recordDoubt(sql: Sql, id: string, keySpent: boolean, error: string): Promise<void> {
  await sql.rows(
    `with told as (insert into operation_history (operation_id, fact, note) values ($1, 'in_doubt', $3))
     update operations set key_spent = key_spent or $2, last_error = $3 where id = $1`,
    [id, keySpent, error.slice(0, 500)],
  );
}

/** Takes a new key; call only after the processor proved that it has nothing under our reference. */
export async function rotateKey(sql: Sql, operation: Operation): Promise<Operation> {
  const [row] = await sql.rows<Row>(
    `update operations set generation = generation + 1, key_spent = false where id = $1 and generation = $2 returning *`,
    [operation.id, operation.generation],
  );
  if (!row) throw new Error("another worker has rotated this key");
  return stored(row);
}

/**
 * Claims operations that are due: their next try moves on by the schedule before anyone works, so that a crash delays one try.
 * @param pausesSeconds pause after the first, second … try; past the last one an operation is parked for an operator.
 */
export async function claimOperations(sql: Sql, pausesSeconds: readonly number[], limit: number): Promise<Operation[]> {
  const rows = await sql.rows<Row>(
    `with due as materialized (
       select id from operations where state = 'started' and next_try_at <= now()
       order by next_try_at limit $2 for update skip locked),
     claimed as (
       update operations o set tries = tries + 1,
         state = case when o.tries >= cardinality($1::float8[]) then 'parked' else o.state end,
         next_try_at = now() + make_interval(secs => ($1::float8[])[least(o.tries + 1, cardinality($1::float8[]))])
       from due where o.id = due.id returning o.*),
     told as (
       insert into operation_history (operation_id, fact) select id, 'parked' from claimed where state = 'parked')
     select * from claimed`,
    [pausesSeconds, limit],
  );
  return rows.map(stored);
}

/** Nothing could be asked, so that the try does not count; but the operation never looks untouched again. */
export async function deferOperation(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.rows(
    `update operations set tries = greatest(tries - 1, 1), next_try_at = now() + make_interval(secs => $2)
     where id = $1 and state = 'started'`,
    [id, seconds],
  );
}

function stored(row: Row): Operation {
  return {
    id: row.id,
    kind: row.kind,
    paymentId: row.payment_id,
    refundId: row.refund_id ?? "",
    reference: row.reference,
    generation: row.generation,
    state: row.state,
    keySpent: row.key_spent,
    tries: row.tries,
    tried: true,
  };
}
