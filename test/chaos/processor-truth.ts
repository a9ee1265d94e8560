// The processor's side of a run: intents with their objects, calls that had effects, and the statement. Uses few
// requests whatever the number of payments, so that a long run is compared in seconds.
import type { Api } from "../harness/api.ts";
import type { TheirCapture, TheirIntent } from "./expected-money.ts";
import { type MoneyRig, processorApi } from "./money-rig.ts";
import { stripeTruth } from "./stripe-truth.ts";

/** Captured total and capture time in an event of the intent. */
interface Snapshot {
  readonly amount: number;
  readonly firstAt: number;
  readonly eventAt: number;
}

/** A call that did work there. */
export interface TheirOperation {
  /** `intents.create`, `refunds.create`, `intents.capture` or `intents.cancel`. */
  readonly kind: string;
  readonly reference: string;
  readonly idempotency_key: string;
}

export interface ProcessorTruth {
  /** By our payment id; more than one is a difference. */
  readonly intents: ReadonlyMap<string, readonly TheirIntent[]>;
  /** By our id of the payment or refund. */
  readonly operations: ReadonlyMap<string, readonly TheirOperation[]>;
  /** Rows of the statement over all time: `intent`, `refund` and `dispute` ids with their amounts and statuses. */
  readonly statement: ReadonlyMap<string, { readonly amount: number; readonly status: string }>;
}

// Its page ended before anybody had paid there.
const isOver = `i.status = 'requires_payment_method' and to_jsonb(i) ->> 'returned_at' is null
  and coalesce((to_jsonb(i) ->> 'page_expires_at')::timestamptz <= now(), false)`;

const madeFor = `(select o.reference from operations o where o.intent_id = i.id and o.kind = 'intents.create' limit 1)`;

const captureSnapshots = `(select coalesce(jsonb_agg(jsonb_build_object('amount', (e.body::jsonb #>> '{data,intent,captured_amount}')::int,
    'firstAt', extract(epoch from (e.body::jsonb #>> '{data,intent,captured_at}')::timestamptz),
    'eventAt', extract(epoch from e.created_at)) order by e.seq), '[]')
  from events e where e.intent_id = i.id and e.type in ('intent.succeeded', 'intent.attempt_failed'))`;

/** Each step up is a capture; that the amount fell means that the debit came back. */
function capturesOf(snapshots: readonly Snapshot[]): TheirCapture[] {
  let captures: TheirCapture[] = [];
  let before = 0;
  for (const { amount, firstAt, eventAt } of snapshots) {
    if (amount < before) captures = [];
    if (amount > before) captures.push({ amount: amount - before, at: before === 0 ? firstAt : eventAt });
    before = amount;
  }
  return captures;
}

export async function processorTruth(rig: MoneyRig): Promise<ProcessorTruth> {
  const { books, simulatorAccounts = null, stripe } = rig;
  const list = (table: string, columns: string) =>
    `(select coalesce(jsonb_agg(jsonb_build_object(${columns})), '[]') from ${table} t where t.intent_id = i.id)`;
  const movement = "'id', t.id, 'amount', t.amount, 'status', t.status";
  const rows = await books.simulator.rows<Omit<TheirIntent, "captures"> & { snapshots: readonly Snapshot[] }>(
    `select i.id, coalesce(${madeFor}, i.reference) as reference, case when ${isOver} then 'expired' else i.status end as status,
       i.amount::int, i.currency, i.captured_amount::int, ${captureSnapshots} as snapshots, ${list("attempts", "'status', t.status")} as attempts,
       ${list("refunds", `${movement}, 'reference', coalesce(t.reference, '')`)} as refunds, ${list("disputes", movement)} as disputes,
       (select count(*)::int from events e where e.intent_id = i.id and e.delivered_at is null) as untold,
       to_jsonb(i) ->> 'returned_at' is not null as "wasReturned",
       to_jsonb(i) ->> 'returned_at' is not null and i.status in ('requires_payment_method', 'canceled')
         and not exists (select from attempts a where a.intent_id = i.id and a.status = 'succeeded') as "isReturned",
       to_jsonb(i) ->> 'lost_at' is not null as "isLost",
       coalesce(to_jsonb(i) ->> 'cancellation_reason' = 'expired', false) as "isExpired"
     from intents i where $1::text[] is null or i.account = any($1)`,
    [simulatorAccounts],
  );
  const intents = rows.map(({ snapshots, ...intent }) => ({ ...intent, captures: capturesOf(snapshots) }));
  const operations = await books.simulator.rows<TheirOperation>(
    // An intent in the place of one whose page or account ended is another one. A dashboard may rename an intent before
    // its capture.
    `select o.kind, coalesce(case when o.kind = 'intents.capture' then ${madeFor} end, o.reference, '')
         || case when o.kind = 'intents.create' then coalesce('/' || i.renewal, '') || '/' || o.account else '' end
         as reference,
       coalesce(o.idempotency_key, '') as idempotency_key
     from operations o left join intents i on i.id = o.intent_id where $1::text[] is null or o.account = any($1)`,
    [simulatorAccounts],
  );
  const atStripe = stripeTruth(stripe);
  const known = await books.simulator.rows<{ account: string }>(
    "select distinct account from intents where $1::text[] is null or account = any($1)",
    [simulatorAccounts],
  );
  const apis = known.map(({ account }) => processorApi(rig.running, rig.simulatorSecretKey, account));
  return {
    intents: byReference([...intents, ...atStripe.intents]),
    operations: byReference(operations),
    statement: new Map([
      ...(await Promise.all(apis.map(theirStatement))).flatMap((rows) => [...rows]),
      ...atStripe.statement,
    ]),
  };
}

async function theirStatement(processor: Api): Promise<Map<string, { amount: number; status: string }>> {
  const rows = new Map<string, { amount: number; status: string }>();
  for (let after: unknown = ""; after !== null; ) {
    const query = after === "" ? "" : `&after=${after}`;
    const page = (await processor.get(`/api/statement?limit=500${query}`)).expect(200);
    for (const row of page.list("data") as { id: string; amount: number; status: string }[]) rows.set(row.id, row);
    after = page.at("next");
  }
  return rows;
}

function byReference<T extends { readonly reference: string }>(rows: readonly T[]): Map<string, T[]> {
  const grouped = new Map<string, T[]>();
  for (const row of rows) {
    const own = grouped.get(row.reference);
    if (own) own.push(row);
    else grouped.set(row.reference, [row]);
  }
  return grouped;
}
