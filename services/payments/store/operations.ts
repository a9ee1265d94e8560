// The operations table: every call that changes something at a processor leaves its row here before it is made.
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import { Failure } from "#platform/values/failure.ts";

export interface Operation {
  readonly id: string;
  readonly kind:
    | "create_intent"
    | "create_refund"
    | "give_back"
    | "submit_evidence"
    | "accept_dispute"
    | "renew_intent"
    | "capture"
    | "cancel";
  readonly paymentId: string;
  readonly refundId: string;
  readonly reference: string;
  /** Of a capture, minor units; else 0. */
  readonly amount: bigint;
  readonly generation: number;
  readonly state: "started" | "done" | "parked";
  readonly tries: number;
  /** For how long the current key has been in use, by the database's clock; seconds. */
  readonly keyAgeSeconds: number;
  /** A time of the processor's clock before the first try; undefined: it had not told any. */
  readonly sentAfter: Date | undefined;
  /** Where a look by our reference goes on; empty: from the newest on. */
  readonly searchAfter: string;
  /** Ciphertext of what a repeat needs and no other row has. */
  readonly sealedOrder: Buffer | undefined;
  /** A try may have been made before: true for every operation that is read back. */
  readonly tried: boolean;
}

/** What is written of an operation before anybody tries it; `done`: nobody will. */
export type NewOperation = Pick<Operation, "id" | "state" | "sentAfter" | "sealedOrder">;

interface Row {
  id: string;
  kind: Operation["kind"];
  payment_id: string;
  refund_id: string | null;
  reference: string;
  amount: string | null;
  generation: number;
  state: Operation["state"];
  tries: number;
  key_age: string;
  sent_after: string | null;
  search_after: string;
  sealed_order: Buffer | null;
}

const columns = `o.id, o.kind, o.payment_id, o.refund_id, o.reference, o.amount, o.generation, o.state, o.tries, o.sent_after, o.search_after,
  o.sealed_order, extract(epoch from now() - o.key_since) as key_age`;

/**
 * An operation that nobody has tried yet, as its creator holds it. @param sentAfter the processor's clock, as last
 * told.
 */
export function firstTry(
  id: string,
  kind: Operation["kind"],
  paymentId: string,
  sentAfter: Date | undefined,
  { refundId = "", sealedOrder, amount = 0n }: { refundId?: string; sealedOrder?: Buffer; amount?: bigint } = {},
): Operation {
  const reference = refundId || paymentId;
  return {
    id,
    kind,
    paymentId,
    refundId,
    reference,
    amount,
    generation: 1,
    state: "started",
    tries: 0,
    keyAgeSeconds: 0,
    sentAfter,
    searchAfter: "",
    sealedOrder,
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
  const [row] = await sql.rows<Row>(`select ${columns} from operations o where kind = $1 and reference = $2`, [
    kind,
    reference,
  ]);
  return row && operationOf(row);
}

/** Keeps an operation on the reconcile job's list, whatever it was before. */
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

// What was surely never made is requested again, under a new key and with a new schedule.
const renewed = `state = 'started', tries = 1, next_try_at = now() + make_interval(secs => $3), generation = generation + 1,
  key_since = now(), not_found_since = null, search_after = ''`;

/** A new key for a refund that is reserved again, under its payment's lock. */
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
  await sql.rows(
    `update operations set state = 'done', sealed_order = null where kind = $1 and reference = $2 and state <> 'done'`,
    [kind, reference],
  );
}

/** Remembers that a call got no proven answer. */
export async function recordDoubt(sql: Sql, id: string, error: string): Promise<void> {
  await sql.rows(
    `with told as (insert into operation_history (operation_id, fact, note) values ($1, 'in_doubt', $2))
     update operations set last_error = $2 where id = $1`,
    [id, error.slice(0, 500)],
  );
}

/**
 * Notes, before a call is sent again, that whatever was not found before it proves nothing any more.
 * @returns false: another run has taken a new key meanwhile, so nothing may be sent under this one.
 */
export async function recordResend(sql: Sql, { id, generation }: Operation): Promise<boolean> {
  const rows = await sql.rows(
    `update operations set not_found_since = null, search_after = '' where id = $1 and generation = $2 returning id`,
    [id, generation],
  );
  return rows.length === 1;
}

/**
 * Notes that a complete look found nothing, by the processor's own clock; the next look is due when that can be proof.
 * @param proofSeconds for how long nothing must be found.
 * @returns since when that is so, without a send in between.
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

/** Notes where a look goes on that was too long for one call, whoever looks; the job's next part is due at once. */
export async function recordSearch(sql: Sql, id: string, searchAfter: string): Promise<void> {
  await sql.rows(
    `update operations set search_after = $2,
       tries = case when state = 'started' then greatest(tries - 1, 1) else tries end, next_try_at = now()
     where id = $1`,
    [id, searchAfter],
  );
}

/**
 * Takes a new key; call only after the processor has proved that it has nothing under our reference.
 * @throws Failure SERVICE_UNAVAILABLE: somebody else has taken one, or sends under the old one again.
 */
export async function rotateKey(sql: Sql, { id, generation }: Operation, tryAfterSeconds: number): Promise<Operation> {
  const [row] = await sql.rows<Row>(
    `update operations o set ${renewed}
     where id = $1 and generation = $2 and not_found_since is not null returning ${columns}`,
    [id, generation, tryAfterSeconds],
  );
  if (!row) {
    const cause = new Error("another run goes on with this operation");
    throw new Failure("SERVICE_UNAVAILABLE", { cause, retryAfterMs: 1_000 });
  }
  return operationOf(row);
}

/**
 * The next try is sent under a new key, unless another run has taken one. The age stays that of the first: what is sent
 * again ends when it would have ended.
 */
export async function takeNextKey(sql: Sql, { id, generation }: Operation): Promise<void> {
  await sql.rows(`update operations set generation = generation + 1 where id = $1 and generation = $2`, [
    id,
    generation,
  ]);
}

/** Of the operation that makes a payment's n-th intent in place of one whose page ended. */
export function renewalReference(paymentId: string, renewal: number): string {
  return `${paymentId}/${renewal}`;
}

/** The how-manieth intent of its payment an operation makes; 0: the first. */
export function renewalOf({ kind, reference }: Pick<Operation, "kind" | "reference">): number {
  return kind === "renew_intent" ? Number(reference.split("/")[1]) : 0;
}

/** Begins a renewal, unless somebody has: then goes on with theirs. */
export async function openRenewal(
  tx: Tx,
  operation: { id: string; paymentId: string; renewal: number; sentAfter: Date | undefined },
  tryAfterSeconds: number,
): Promise<Operation> {
  const reference = renewalReference(operation.paymentId, operation.renewal);
  const [fresh] = await tx.rows<Row>(
    `insert into operations as o (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, 'renew_intent', $2, $3, now() + make_interval(secs => $4), $5)
     on conflict (kind, reference) do nothing returning ${columns}`,
    [operation.id, operation.paymentId, reference, tryAfterSeconds, operation.sentAfter?.toISOString() ?? null],
  );
  if (fresh) return { ...operationOf(fresh), tried: false };
  await recordTakeOver(tx, "renew_intent", reference);
  const known = await findOperation(tx, "renew_intent", reference);
  if (!known) throw new Error("a renewal is gone");
  return known;
}

/** The renewal of a payment that is not recorded yet; undefined: none is under way. */
export async function findOpenRenewal(sql: Sql, paymentId: string): Promise<Operation | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns} from operations o where payment_id = $1 and kind = 'renew_intent' and state <> 'done'`,
    [paymentId],
  );
  return row && operationOf(row);
}

/** An operation of what its reference names; one that has ended begins anew. */
export async function openOperation(
  sql: Sql,
  kind: "give_back" | "submit_evidence" | "accept_dispute",
  operation: Pick<Operation, "id" | "paymentId" | "reference" | "sentAfter">,
  tryAfterSeconds: number,
): Promise<Operation> {
  const [row] = await sql.rows<Row>(
    `insert into operations as o (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, $6, $2, $3, now() + make_interval(secs => $4), $5)
     on conflict (kind, reference) do update set state = 'started', tries = greatest(o.tries, 1),
       next_try_at = excluded.next_try_at,
       generation = o.generation + case when o.state = 'done' then 1 else 0 end,
       key_since = case when o.state = 'done' then now() else o.key_since end,
       not_found_since = case when o.state = 'done' then null else o.not_found_since end
     returning ${columns}`,
    [
      operation.id,
      operation.paymentId,
      operation.reference,
      tryAfterSeconds,
      operation.sentAfter?.toISOString() ?? null,
      kind,
    ],
  );
  if (!row) throw new Error("an operation was not written");
  return operationOf(row);
}

/**
 * Claims operations that are due: their next try moves on by the schedule before anyone works, so that a crash delays
 * one try.
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
       from due where o.id = due.id returning ${columns}),
     told as (
       insert into operation_history (operation_id, fact) select id, 'parked' from claimed where state = 'parked')
     select * from claimed`,
    [pausesSeconds, limit],
  );
  return rows.map(operationOf);
}

/** Nothing could be asked, so that the try does not count; but the operation never looks untouched again. */
export async function deferOperation(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.rows(
    `update operations set tries = greatest(tries - 1, 1), next_try_at = now() + make_interval(secs => $2)
     where id = $1 and state = 'started'`,
    [id, seconds],
  );
}

function operationOf(row: Row): Operation {
  return {
    id: row.id,
    kind: row.kind,
    paymentId: row.payment_id,
    refundId: row.refund_id ?? "",
    reference: row.reference,
    amount: BigInt(row.amount ?? 0),
    generation: row.generation,
    state: row.state,
    tries: row.tries,
    keyAgeSeconds: Number(row.key_age),
    sentAfter: parseTime(row.sent_after) ?? undefined,
    searchAfter: row.search_after,
    sealedOrder: row.sealed_order ?? undefined,
    tried: true,
  };
}
