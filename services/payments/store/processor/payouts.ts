// The payouts table: the processor's payments to the bank, by its reports.
import { bigint, Columns, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { PayoutStatus } from "../../rules/movement.ts";

const payoutColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  connectorAccountId: text,
  ref: text,
  /** Minor units; below zero: the processor collects. */
  amount: bigint,
  currency: text,
  status: sqlColumn<PayoutStatus>("text"),
  /** YYYY-MM-DD. */
  arrivalDate: text,
  statementDescriptor: text,
  failureMessage: text,
  createdAt: time,
});

export type NewPayout = RowOf<typeof payoutColumns>;

/** Inserts a payout, or updates what its processor may change. Value dates are set once. */
export async function savePayout(tx: Tx, payout: NewPayout): Promise<void> {
  await tx.rows(
    `insert into payouts (${payoutColumns.names()}, paid_at, paid_posted_at, returned_at, returned_posted_at)
     select ${payoutColumns.names("g")},
       case when g.status in ('paid', 'returned') then least(g.arrival_date::timestamp at time zone 'UTC', now()) end,
       case when g.status in ('paid', 'returned') then now() end,
       case when g.status = 'returned' then now() end, case when g.status = 'returned' then now() end
     from jsonb_to_record($1) as g (${payoutColumns.types.replace("arrival_date text", "arrival_date date")})
     on conflict (connector_account_id, ref) do update set status = excluded.status, arrival_date = excluded.arrival_date,
       statement_descriptor = excluded.statement_descriptor, failure_message = excluded.failure_message, updated_at = now(),
       paid_at = coalesce(payouts.paid_at, excluded.paid_at), paid_posted_at = coalesce(payouts.paid_posted_at, excluded.paid_posted_at),
       returned_at = coalesce(payouts.returned_at, excluded.returned_at),
       returned_posted_at = coalesce(payouts.returned_posted_at, excluded.returned_posted_at)`,
    [JSON.stringify(payoutColumns.write(payout))],
  );
}

const knownColumns = new Columns({ id: text, status: sqlColumn<PayoutStatus>("text") });

/** A payout by the processor's id, locked; undefined: it is new. */
export async function lockPayout(
  tx: Tx,
  accountId: string,
  ref: string,
): Promise<RowOf<typeof knownColumns> | undefined> {
  const [row] = await tx.rows<object>(
    `select ${knownColumns.names()} from payouts where connector_account_id = $1 and ref = $2 for update`,
    [accountId, ref],
  );
  return row && knownColumns.read(row);
}

/** The creation of the oldest payout that may still change: one that is under way, or was paid in the last weeks. */
export async function oldestOpenPayout(sql: Sql, accountId: string): Promise<Date | undefined> {
  const [row] = await sql.rows<{ at: string | null }>(
    `select min(created_at) as at from payouts where connector_account_id = $1 and (status in ('pending', 'in_transit')
       or reconciled_at is null or (status = 'paid' and paid_at > now() - interval '30 days'))`,
    [accountId],
  );
  return row?.at ? parseTime(row.at) : undefined;
}

/** Payouts that left and whose movements are not assigned, oldest first. */
export async function unreconciledPayouts(
  sql: Sql,
  accountId: string,
  limit: number,
): Promise<{ id: string; ref: string; ageSeconds: number }[]> {
  return await sql.rows(
    `select id, ref, extract(epoch from now() - created_at)::float as "ageSeconds" from payouts
     where connector_account_id = $1 and reconciled_at is null and status <> 'pending' order by created_at limit $2`,
    [accountId, limit],
  );
}

/** Stores the sum of a payout's movements; the rest is unattributed. @returns the rest, minor units */
export async function reconcilePayout(sql: Sql, id: string): Promise<bigint> {
  const [row] = await sql.rows<{ rest: string }>(
    `with lines as (select coalesce(sum(net), 0) as amount from movements where payout_id = $1)
     update payouts p set reconciled_at = now(), updated_at = now(), lines_amount = lines.amount,
       unattributed_amount = p.amount - lines.amount
     from lines where p.id = $1 and p.reconciled_at is null returning p.unattributed_amount::text as rest`,
    [id],
  );
  return BigInt(row?.rest ?? 0);
}
