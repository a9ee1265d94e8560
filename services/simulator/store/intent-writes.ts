// Writes intents. A change is one statement: the next version of the intent, its attempts, refunds and disputes, the
// movements of the balance, events, delayed facts, idempotency key and audit row.
import type { Intent } from "../rules/intent.ts";
import type { NewMovement } from "./movements.ts";
import type { Db } from "./pool.ts";

export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly created_at: string;
}

export interface NewDelayedFact {
  readonly id: string;
  readonly kind: string;
  readonly object_id: string;
  readonly due_at: string;
}

export interface KeyRow {
  readonly account: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly created_at: string;
}

export interface OperationRow {
  readonly account: string;
  readonly kind: string;
  readonly idempotency_key: string | null;
  readonly reference: string | null;
  readonly object_id: string;
  readonly intent_id: string;
  readonly created_at: string;
}

export interface Along {
  readonly movements?: readonly NewMovement[];
  readonly events?: readonly NewEvent[];
  readonly delayed?: readonly NewDelayedFact[];
  /** The delayed fact that the change applies. */
  readonly doneFactId?: string;
  readonly key?: KeyRow | undefined;
  readonly operation?: OperationRow | undefined;
}

/** @throws by idempotency_keys_pkey if the key exists; then nothing is written */
export async function insertIntent(db: Db, intent: Intent, along: Along): Promise<void> {
  const parts = present({
    attempts: intent.attempts,
    movements: along.movements ?? [],
    events: along.events ?? [],
    delayed: along.delayed ?? [],
    keys: rowsOf(along.key),
    operations: rowsOf(along.operation),
  });
  await db.query({
    name: `insert-intent ${namesOf(parts)}`,
    text: `with gate as (insert into intents select * from jsonb_populate_record(null::intents, $1)
        returning id, account, currency)
      ${writesOf(parts, 2)} select from gate`,
    values: [JSON.stringify(intent), ...parts.map(([, value]) => JSON.stringify(value))],
  });
}

/**
 * Writes the differences between the two.
 * @returns false: the intent has changed since `before` was read, and nothing was written
 * @throws as insertIntent
 */
export async function updateIntent(db: Db, before: Intent, after: Intent, along: Along): Promise<boolean> {
  const parts = present({
    attempts: after.attempts.filter((one) => !before.attempts.includes(one)),
    refunds: after.refunds.filter((one) => !before.refunds.includes(one)),
    disputes: after.disputes.filter((one) => !before.disputes.includes(one)),
    movements: along.movements ?? [],
    events: along.events ?? [],
    delayed: along.delayed ?? [],
    done: along.doneFactId === undefined ? [] : [{ id: along.doneFactId }],
    keys: rowsOf(along.key),
    operations: rowsOf(along.operation),
  });
  const { status, captured_amount, refunded_amount, paid_at, canceled_at, outage_until } = after;
  const timed = [after.returned_at, after.lost_at, after.page_expires_at, after.capture_before];
  const rare = [after.amount, ...timed, after.cancellation_reason];
  const columns = [status, captured_amount, refunded_amount, paid_at, canceled_at, outage_until, ...rare];
  const { rowCount } = await db.query({
    name: `update-intent ${namesOf(parts)}`,
    text: `with gate as (update intents set version = version + 1, status = $3, captured_amount = $4,
        refunded_amount = $5, paid_at = $6, canceled_at = $7, outage_until = $8,
         amount = $9, returned_at = $10, lost_at = $11, page_expires_at = $12, capture_before = $13,
         cancellation_reason = $14
       where id = $1 and version = $2 returning id, account, currency) ${writesOf(parts, 15)} select 1 from gate`,
    values: [after.id, before.version, ...columns, ...parts.map(([, value]) => JSON.stringify(value))],
  });
  return rowCount === 1;
}

/** Optional parts of a change, each from a JSON list. `gate` is empty if the change must not happen. */
const writes = {
  keys: `insert into idempotency_keys select k.* from jsonb_populate_recordset(null::idempotency_keys, $) k, gate`,
  operations: `insert into operations (account, kind, idempotency_key, reference, object_id, intent_id, created_at)
    select o.account, o.kind, o.idempotency_key, o.reference, o.object_id, o.intent_id, o.created_at
    from jsonb_populate_recordset(null::operations, $) o, gate`,
  attempts: `insert into attempts select a.* from jsonb_populate_recordset(null::attempts, $) a, gate
    on conflict (id) do update set status = excluded.status, failure_code = excluded.failure_code,
      failure_message = excluded.failure_message, authorization_code = excluded.authorization_code,
      settled_at = excluded.settled_at, three_ds_result = excluded.three_ds_result,
      three_ds_version = excluded.three_ds_version`,
  refunds: `insert into refunds select r.* from jsonb_populate_recordset(null::refunds, $) r, gate
    on conflict (id) do update set status = excluded.status, failure_code = excluded.failure_code,
      failure_message = excluded.failure_message, moved_at = excluded.moved_at`,
  disputes: `insert into disputes select d.* from jsonb_populate_recordset(null::disputes, $) d, gate
    on conflict (id) do update set status = excluded.status, closed_at = excluded.closed_at,
      moved_at = excluded.moved_at, evidence_reference = excluded.evidence_reference, evidence = excluded.evidence,
      evidence_at = excluded.evidence_at`,
  movements: `insert into movements
      (id, account, intent_id, type, amount, fee, currency, object_id, created_at, available_at)
    select m.id, gate.account, gate.id, m.type, m.amount, m.fee, gate.currency, m.object_id,
      m.created_at, m.available_at
    from jsonb_to_recordset($) as m(id text, type text, amount bigint, fee bigint, object_id text,
      created_at timestamptz, available_at timestamptz), gate`,
  events: `insert into events (id, account, intent_id, type, body, created_at)
    select e.id, gate.account, gate.id, e.type, e.body, e.created_at
    from jsonb_to_recordset($) as e(id text, type text, body text, created_at timestamptz), gate`,
  delayed: `insert into delayed_facts (id, intent_id, kind, object_id, due_at)
    select f.id, gate.id, f.kind, f.object_id, f.due_at
    from jsonb_to_recordset($) as f(id text, kind text, object_id text, due_at timestamptz), gate`,
  done: `delete from delayed_facts using gate, jsonb_to_recordset($) as f(id text) where delayed_facts.id = f.id`,
} as const;

type WriteName = keyof typeof writes;
type NamedWrites = [WriteName, readonly object[]][];

/** Each combination of parts is its own prepared statement, so absent parts cost nothing. */
function present(lists: { readonly [P in WriteName]?: readonly object[] }): NamedWrites {
  const names = Object.keys(writes).filter((name): name is WriteName => name in writes);
  return names.flatMap((name): NamedWrites => (lists[name]?.length ? [[name, lists[name]]] : []));
}

function namesOf(parts: NamedWrites): string {
  return parts.map(([name]) => name).join(" ");
}

function writesOf(parts: NamedWrites, firstParameter: number): string {
  return parts.map(([name], i) => `, w${i} as (${writes[name].replace("$", `$$${firstParameter + i}`)})`).join("");
}

function rowsOf(row: object | undefined): readonly object[] {
  return row ? [row] : [];
}
