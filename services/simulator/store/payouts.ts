// Payouts: makes them from what is available, moves them, lists them. Each write is one statement with its movements,
// so that a kill at any point leaves a payout whole or absent.
import type { ListPage } from "./movements.ts";
import type { Db } from "./pool.ts";

export const payoutStatuses = ["pending", "in_transit", "paid", "failed", "returned"] as const;
export type PayoutStatus = (typeof payoutStatuses)[number];

export interface PayoutRow {
  readonly seq: number;
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: PayoutStatus;
  readonly failure_message: string | null;
  readonly created_at: Date;
  readonly arrives_at: Date;
  readonly statement_descriptor: string;
}

const columns = `seq, id, amount, currency, status, failure_message, created_at, arrives_at,
  'SIMULATOR PAYOUT' as statement_descriptor`;
const instant = "date_trunc('milliseconds', now())"; // a cursor has no more digits
const linesMax = 50_000; // of one run, within the limit of a statement; the rest is in the next payout

interface Schedule {
  /** Between two payouts of an account and currency. */
  readonly everySeconds: number;
  /** Until the bank has the order, and again until it has the money. */
  readonly delayMs: number;
  /** Null: all. */
  readonly account: string | null;
}

/** Pays out what is available, by account and currency, if that is more than zero. */
export async function makePayouts(db: Db, { everySeconds, delayMs, account }: Schedule): Promise<PayoutRow[]> {
  const { rows } = await db.query<PayoutRow>({
    name: "make-payouts",
    text: `with due as (
        select m.id, m.account, m.currency, m.amount - m.fee as net from movements m
        where m.payout_id is null and m.type <> 'payout' and m.available_at <= now()
          and ($3::text is null or m.account = $3)
          and not exists (select from payouts p where p.account = m.account and p.currency = m.currency
            and p.created_at > now() - $1 * interval '1 second')
        limit ${linesMax} for update of m skip locked),
      made as (
        insert into payouts (id, account, currency, amount, status, created_at, arrives_at, moves_at)
        select 'po_' || replace(gen_random_uuid()::text, '-', ''), account, currency, sum(net), 'pending', ${instant},
          now() + $2 * interval '2 ms', now() + $2 * interval '1 ms'
        from due group by account, currency having sum(net) > 0 returning *),
      lines as (
        update movements set payout_id = made.id from due join made using (account, currency)
        where movements.id = due.id),
      taken as (
        insert into movements (id, account, type, amount, fee, currency, object_id, created_at, available_at)
        select 'txn_' || replace(gen_random_uuid()::text, '-', ''), account, 'payout', -amount, 0, currency, id,
          created_at, created_at from made)
      select ${columns} from made order by seq`,
    values: [everySeconds, delayMs, account],
  });
  return rows;
}

/** Moves payouts on whose time has come. */
export async function moveDuePayouts(db: Db, delayMs: number): Promise<void> {
  await db.query({
    name: "move-due-payouts",
    text: `update payouts set status = case status when 'pending' then 'in_transit' else 'paid' end,
        moves_at = case status when 'pending' then now() + $1 * interval '1 ms' end
      where moves_at <= now()`,
    values: [delayMs],
  });
}

/** The statuses from which each is reached. */
const sources: Readonly<Record<PayoutStatus, readonly PayoutStatus[]>> = {
  pending: [],
  in_transit: ["pending"],
  paid: ["pending", "in_transit"],
  failed: ["pending", "in_transit"],
  returned: ["paid"],
};

/**
 * Moves a payout now; one that fails or is returned brings its money back. It moves no more by itself.
 * @returns undefined: it cannot become that
 */
export async function movePayout(
  db: Db,
  id: string,
  status: PayoutStatus,
  failureMessage: string | null,
): Promise<PayoutRow | undefined> {
  const { rows } = await db.query<PayoutRow>(
    `with gate as (update payouts set status = $2, failure_message = $3, moves_at = null
        where id = $1 and status = any($4) returning *),
      back as (
        insert into movements (id, account, type, amount, fee, currency, object_id, created_at, available_at)
        select 'txn_' || replace(gen_random_uuid()::text, '-', ''), account, 'payout_failure', amount, 0, currency, id,
          ${instant}, ${instant} from gate where status in ('failed', 'returned'))
      select ${columns} from gate`,
    [id, status, failureMessage, sources[status]],
  );
  return rows[0];
}

export async function findPayout(db: Db, account: string, id: string): Promise<PayoutRow | undefined> {
  const { rows } = await db.query<PayoutRow>({
    name: "find-payout",
    text: `select ${columns} from payouts where id = $1 and account = $2`,
    values: [id, account],
  });
  return rows[0];
}

export async function listPayouts(db: Db, page: ListPage): Promise<PayoutRow[]> {
  const { rows } = await db.query<PayoutRow>({
    name: "list-payouts",
    text: `select ${columns} from payouts
      where account = $1 and created_at between $2 and $3
        and created_at >= $4 and (created_at > $4 or seq > $5)
      order by created_at, seq limit $6`,
    values: [page.account, page.from, page.until, page.after.created_at, page.after.seq, page.limit],
  });
  return rows;
}
