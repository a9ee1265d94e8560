// The movements table and its cursors: inserts what processors report, links it to our payments, and sums payouts.
import type { Sql, Tx } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import type { ProcessorMovement } from "../../rules/movement.ts";

/** `mco_…` with its merchant and the name of its connector. */
interface Account {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: number;
  readonly connector: string;
}

/**
 * Inserts a page of movements; a repeat changes nothing. Platform fees of their payments come with them, since only
 * the journal has these.
 */
export async function insertMovements(tx: Tx, account: Account, page: readonly ProcessorMovement[]): Promise<void> {
  if (page.length === 0) return;
  await tx.rows(
    `insert into movements (merchant_id, environment, connector_account_id, id, ref, type, currency, amount, fee, source_amount,
       source_currency, is_ours, intent_ref, object_ref, occurred_at, available_at)
     select $2, $3, $1, id, ref, type, currency, amount, fee, source_amount, source_currency,
       is_ours or exists (select from payments p where p.connector = $5 and p.connector_ref = g.intent_ref)
         or exists (select from payments p where p.former_connector = $5 and p.former_ref = g.intent_ref)
         or exists (select from suspense s where s.connector = $5 and s.connector_ref = g.intent_ref),
       intent_ref, object_ref, occurred_at, available_at
     from jsonb_to_recordset($4) as g (id text, ref text, type text, currency text, amount bigint, fee bigint,
       source_amount bigint, source_currency text, is_ours boolean, intent_ref text, object_ref text, occurred_at timestamptz,
       available_at timestamptz)
     on conflict (connector_account_id, ref) do nothing`,
    [account.id, account.merchantId, account.environment, JSON.stringify(page.map(toRow)), account.connector],
  );
  const refs = page.map(({ ref }) => ref);
  await linkMovements(tx, account, refs);
  await insertPlatformFees(tx, account.id, refs);
}

function toRow(movement: ProcessorMovement) {
  const { source, occurredAt } = movement;
  const availableAt = new Date(Math.max(movement.availableAt.getTime(), occurredAt.getTime()));
  return {
    id: newId("movement"),
    ref: movement.ref,
    type: movement.type,
    currency: movement.currency,
    amount: String(movement.amount),
    fee: String(movement.fee),
    source_amount: source && String(source.amount),
    source_currency: source?.currency,
    is_ours: movement.isOurs,
    intent_ref: movement.intentRef ?? "",
    object_ref: movement.objectRef ?? "",
    occurred_at: occurredAt.toISOString(),
    available_at: availableAt.toISOString(),
  };
}

/** Links movements of the page, and earlier ones of an unknown payment, to payments, refunds and disputes. */
async function linkMovements(tx: Tx, { id, connector }: Account, refs: readonly string[]): Promise<void> {
  await tx.rows(
    `with owner as (
       select m.id, coalesce(p.id, f.id, s.payment_id) as payment_id,
         (select r.id from refunds r where r.connector = $2 and r.connector_ref = m.object_ref) as refund_id,
         (select d.id from disputes d where d.connector = $2 and d.connector_ref = m.object_ref) as dispute_id
       from movements m
       left join payments p on p.connector = $2 and p.connector_ref = m.intent_ref
       left join payments f on f.former_connector = $2 and f.former_ref = m.intent_ref
       left join lateral (select payment_id from suspense where connector = $2 and connector_ref = m.intent_ref
         and kind <> 'second_refund' limit 1) s on true
       where m.connector_account_id = $1 and m.intent_ref <> '' and (m.payment_id is null or m.ref = any($3::text[])))
     update movements m set payment_id = o.payment_id, refund_id = o.refund_id, dispute_id = o.dispute_id
     from owner o where m.id = o.id and o.payment_id is not null
       and (m.payment_id, m.refund_id, m.dispute_id) is distinct from (o.payment_id, o.refund_id, o.dispute_id)`,
    [id, connector, refs],
  );
}

/** Platform fees of the page's payments: balance transactions that no processor reports. */
async function insertPlatformFees(tx: Tx, accountId: string, refs: readonly string[]): Promise<void> {
  const rows = await tx.rows<{ id: string }>(
    `select j.id from journal j where j.kind in ('fee_charged', 'fee_returned') and j.payment_id in (
         select payment_id from movements where connector_account_id = $1 and ref = any($2::text[]) and payment_id is not null)
       and not exists (select from movements m where m.connector_account_id = $1 and m.ref = 'je_' || j.id)
     order by j.id`,
    [accountId, refs],
  );
  await tx.rows(
    `insert into movements (id, merchant_id, environment, connector_account_id, ref, type, currency, amount, is_ours, payment_id,
       occurred_at, available_at)
     select g.id, j.merchant_id, j.environment, $1, 'je_' || j.id, 'fee', j.currency,
       case j.kind when 'fee_charged' then -j.amount else j.amount end, true, j.payment_id, j.created_at, j.created_at
     from unnest($2::text[], $3::bigint[]) as g (id, row_id) join journal j on j.id = g.row_id
     on conflict (connector_account_id, ref) do nothing`,
    [accountId, rows.map(() => newId("movement")), rows.map(({ id }) => id)],
  );
}

/**
 * Assigns movements to a payout. A movement never changes its payout.
 * @returns how many of the refs are here
 */
export async function assignToPayout(
  sql: Sql,
  accountId: string,
  payoutId: string,
  refs: readonly string[],
): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `with assigned as (
       update movements set payout_id = $2
       where connector_account_id = $1 and ref = any($3::text[]) and payout_id is null returning id)
     select count(*) as n from movements where connector_account_id = $1 and ref = any($3::text[])`,
    [accountId, payoutId, refs],
  );
  return Number(row?.n ?? 0);
}

/** Net of all movements at the processor by currency, minor units. */
export async function movedSums(sql: Sql, accountId: string): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql.rows<{ currency: string; net: string }>(
    `select currency, sum(net)::text as net from movements where connector_account_id = $1 and type <> 'fee' group by currency`,
    [accountId],
  );
  return new Map(rows.map(({ currency, net }) => [currency, BigInt(net)]));
}
