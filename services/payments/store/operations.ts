// The operations table: each call that changes something at a processor has its row here before it is sent.

import {
  bytes,
  Columns,
  integer,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import { Failure } from "#platform/values/failure.ts";
import { nullableText } from "./payment-columns.ts";

type Kind =
  | "create_intent"
  | "create_refund"
  | "give_back"
  | "submit_evidence"
  | "accept_dispute"
  | "renew_intent"
  | "capture"
  | "cancel";

export const operationColumns = new Columns({
  id: text,
  kind: sqlColumn<Kind>("text"),
  paymentId: text,
  refundId: nullableText,
  reference: text,
  /** Minor units of a capture; else 0. */
  amount: {
    type: "bigint",
    read: (stored: string | null) => BigInt(stored ?? 0),
    write: (amount: bigint) => String(amount),
  },
  generation: integer,
  state: sqlColumn<"started" | "done" | "parked">("text"),
  tries: integer,
  /** The processor's time before the first try; undefined: unknown. */
  sentAfter: optionalColumn(time),
  /** Where a search by our reference continues; empty: at the newest object. */
  searchAfter: text,
  /** Ciphertext of the data that a repeat needs and no other row has. */
  sealedOrder: optionalColumn(bytes),
});
export const selectedColumns = `${operationColumns.names("o")}, extract(epoch from now() - o.key_since) as key_age`;

export interface Operation extends RowOf<typeof operationColumns> {
  /** Age of the current key by the database's clock, seconds. */
  readonly keyAgeSeconds: number;
  /** A try may have been made before: true for each operation that is read back. */
  readonly tried: boolean;
}

export interface OperationRow {
  readonly key_age: string;
}

export function operationOf(row: OperationRow): Operation {
  return { ...operationColumns.read(row), keyAgeSeconds: Number(row.key_age), tried: true };
}

/** The part that is inserted with its payment. `done`: never to be tried. */
export type NewOperation = Pick<Operation, "id" | "state" | "sentAfter" | "sealedOrder">;

const untried = { generation: 1, state: "started", tries: 0, keyAgeSeconds: 0, searchAfter: "", tried: false } as const;

/** A new operation. @param sentAfter the processor's time as last reported */
export function firstTry(
  id: string,
  kind: Operation["kind"],
  paymentId: string,
  sentAfter: Date | undefined,
  { refundId = "", sealedOrder, amount = 0n }: { refundId?: string; sealedOrder?: Buffer; amount?: bigint } = {},
): Operation {
  const reference = refundId || paymentId;
  return { ...untried, id, kind, paymentId, refundId, reference, amount, sentAfter, sealedOrder };
}

/** The idempotency key at the processor; it changes only with the generation. */
export function processorKey(operation: Pick<Operation, "id" | "generation">): string {
  return `${operation.id}:${operation.generation}`;
}

export async function findOperation(
  sql: Sql,
  kind: Operation["kind"],
  reference: string,
): Promise<Operation | undefined> {
  const [row] = await sql.rows<OperationRow>(
    `select ${selectedColumns} from operations o where kind = $1 and reference = $2`,
    [kind, reference],
  );
  return row && operationOf(row);
}

/** Puts an operation on the reconcile job's list from any state. */
export async function reopenOperation(
  sql: Sql,
  kind: Operation["kind"],
  reference: string,
  tryAfterSeconds: number,
  sealedOrder?: Buffer,
): Promise<void> {
  await sql.rows(
    `update operations set state = 'started', tries = 1, next_try_at = now() + make_interval(secs => $3),
       sealed_order = coalesce($4, sealed_order)
     where kind = $1 and reference = $2`,
    [kind, reference, tryAfterSeconds, sealedOrder ?? null],
  );
}

// A request that was certainly never executed is repeated under a new key with a new schedule.
const renewed = `state = 'started', tries = 1, next_try_at = now() + make_interval(secs => $3), generation = generation + 1,
  key_since = now(), not_found_since = null, search_after = ''`;

/** Gives a refund that is reserved again a new key. The caller holds the payment's lock. */
export async function renewOperation(
  sql: Sql,
  kind: Operation["kind"],
  reference: string,
  tryAfterSeconds: number,
): Promise<void> {
  await sql.rows(`update operations set ${renewed} where kind = $1 and reference = $2`, [
    kind,
    reference,
    tryAfterSeconds,
  ]);
}

/** Records that another run continues the operation, so the creator may not know of all tries. */
export async function recordTakeOver(sql: Sql, kind: Operation["kind"], reference: string): Promise<void> {
  await sql.rows(`update operations set tries = greatest(tries, 1) where kind = $1 and reference = $2`, [
    kind,
    reference,
  ]);
}

/** Locks the operation. @returns true: only its creator has tried it */
export async function lockUntouched(tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx.rows<{ untouched: boolean }>(
    `select tries = 0 and state = 'started' as untouched from operations where id = $1 for update`,
    [id],
  );
  return row?.untouched ?? false;
}

export async function closeOperation(sql: Sql, kind: Operation["kind"], reference: string): Promise<void> {
  await sql.rows(
    `update operations set state = 'done', sealed_order = null where kind = $1 and reference = $2 and state <> 'done'`,
    [kind, reference],
  );
}

/** Records that a call got no conclusive answer. */
export async function recordDoubt(sql: Sql, id: string, error: string): Promise<void> {
  await sql.rows(
    `with entry as (insert into operation_history (operation_id, fact, note) values ($1, 'in_doubt', $2))
     update operations set last_error = $2 where id = $1`,
    [id, error.slice(0, 500)],
  );
}

/**
 * Records that a call is about to be sent again, which voids earlier proof of its absence.
 * @returns false: another run has taken a new key, so this key must not be sent
 */
export async function recordResend(sql: Sql, { id, generation }: Operation): Promise<boolean> {
  const rows = await sql.rows(
    `update operations set not_found_since = null, search_after = '' where id = $1 and generation = $2 returning id`,
    [id, generation],
  );
  return rows.length === 1;
}

/**
 * Records a complete search without a hit and schedules the next one for when absence can be proved.
 * @param at by the processor's clock
 * @param proofSeconds how long searches must find nothing before that proves absence
 * @returns since when nothing was found, without a send in between
 */
export async function recordNothingFound(sql: Sql, id: string, at: Date, proofSeconds: number): Promise<Date> {
  const [row] = await sql.rows<{ since: string }>(
    `update operations set not_found_since = least(not_found_since, $2), search_after = '',
       next_try_at = least(next_try_at, now() + make_interval(secs => $3) - ($2 - least(not_found_since, $2)) + interval '1 second')
     where id = $1 returning not_found_since as since`,
    [id, at.toISOString(), proofSeconds],
  );
  return parseTime(row?.since ?? null) ?? at;
}

/** Stores the position of a search that one call could not finish; the job continues it immediately. */
export async function recordSearch(sql: Sql, id: string, searchAfter: string): Promise<void> {
  await sql.rows(
    `update operations set search_after = $2,
       tries = case when state = 'started' then greatest(tries - 1, 1) else tries end, next_try_at = now()
     where id = $1`,
    [id, searchAfter],
  );
}

/**
 * Takes a new key. Call it only after the processor has proved that it has nothing under our reference.
 * @throws Failure SERVICE_UNAVAILABLE: another run has taken a new key or sends under the old one
 */
export async function rotateKey(sql: Sql, { id, generation }: Operation, tryAfterSeconds: number): Promise<Operation> {
  const [row] = await sql.rows<OperationRow>(
    `update operations o set ${renewed}
     where id = $1 and generation = $2 and not_found_since is not null returning ${selectedColumns}`,
    [id, generation, tryAfterSeconds],
  );
  if (!row) {
    const cause = new Error("another run continues this operation");
    throw new Failure("SERVICE_UNAVAILABLE", { cause, retryAfterMs: 1_000 });
  }
  return operationOf(row);
}

/**
 * Sends the next try under a new key, unless another run has taken one. `key_since` stays, so that repeats do not
 * extend the operation.
 */
export async function takeNextKey(sql: Sql, { id, generation }: Operation): Promise<void> {
  await sql.rows(`update operations set generation = generation + 1 where id = $1 and generation = $2`, [
    id,
    generation,
  ]);
}

/** Begins the operation of a reference, or restarts it if it is done. */
export async function openOperation(
  sql: Sql,
  kind: "give_back" | "submit_evidence" | "accept_dispute",
  operation: Pick<Operation, "id" | "paymentId" | "reference" | "sentAfter">,
  tryAfterSeconds: number,
): Promise<Operation> {
  const [row] = await sql.rows<OperationRow>(
    `insert into operations as o (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, $6, $2, $3, now() + make_interval(secs => $4), $5)
     on conflict (kind, reference) do update set state = 'started', tries = greatest(o.tries, 1),
       next_try_at = excluded.next_try_at,
       generation = o.generation + case when o.state = 'done' then 1 else 0 end,
       key_since = case when o.state = 'done' then now() else o.key_since end,
       not_found_since = case when o.state = 'done' then null else o.not_found_since end
     returning ${selectedColumns}`,
    [
      operation.id,
      operation.paymentId,
      operation.reference,
      tryAfterSeconds,
      operation.sentAfter?.toISOString() ?? null,
      kind,
    ],
  );
  if (!row) throw new Error("the operation was not written");
  return operationOf(row);
}

/**
 * Claims operations that are due. Their next try is scheduled first, so that a crash delays one try only.
 * @param pausesSeconds pause after the first, second … try; after the last one the operation is parked for an operator
 */
export async function claimOperations(sql: Sql, pausesSeconds: readonly number[], limit: number): Promise<Operation[]> {
  const rows = await sql.rows<OperationRow>(
    `with due as materialized (
       select id from operations where state = 'started' and next_try_at <= now()
       order by next_try_at limit $2 for update skip locked),
     claimed as (
       update operations o set tries = tries + 1,
         state = case when o.tries >= cardinality($1::float8[]) then 'parked' else o.state end,
         next_try_at = now() + make_interval(secs => ($1::float8[])[least(o.tries + 1, cardinality($1::float8[]))])
       from due where o.id = due.id returning ${selectedColumns}),
     entries as (
       insert into operation_history (operation_id, fact) select id, 'parked' from claimed where state = 'parked')
     select * from claimed`,
    [pausesSeconds, limit],
  );
  return rows.map(operationOf);
}

/** Postpones a try that could not ask the processor; it does not count, but the operation stays marked as tried. */
export async function deferOperation(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.rows(
    `update operations set tries = greatest(tries - 1, 1), next_try_at = now() + make_interval(secs => $2)
     where id = $1 and state = 'started'`,
    [id, seconds],
  );
}
