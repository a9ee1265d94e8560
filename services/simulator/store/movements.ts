// Reads the movements of accounts and their sums, and writes those without a payment. intent-writes.ts writes the
// others with the change that moves the money.
import type { MovementType } from "../rules/movement.ts";
import type { Db } from "./pool.ts";

export interface NewMovement {
  readonly id: string;
  readonly type: MovementType;
  readonly amount: number;
  readonly fee: number;
  readonly object_id: string | null;
  readonly created_at: string;
  readonly available_at: string;
}

export interface MovementRow {
  readonly seq: number;
  readonly id: string;
  readonly type: MovementType;
  readonly amount: number;
  readonly fee: number;
  readonly currency: string;
  readonly intent: string | null;
  /** Of the intent; null: no intent. */
  readonly reference: string | null;
  readonly object: string | null;
  readonly payout: string | null;
  readonly created_at: Date;
  readonly available_at: Date;
}

/** Rows of a list in the order of creation. */
export interface ListPage {
  readonly account: string;
  /** Included, both. */
  readonly from: Date;
  readonly until: Date;
  readonly limit: number;
  /** Last row of the page before. */
  readonly after: { readonly created_at: Date; readonly seq: number };
}

/** @param payoutId only those in it; null: all */
export async function listMovements(db: Db, page: ListPage, payoutId: string | null): Promise<MovementRow[]> {
  const { rows } = await db.query<MovementRow>({
    name: payoutId === null ? "list-movements" : "list-payout-movements",
    text: `select m.seq, m.id, m.type, m.amount, m.fee, m.currency, m.intent_id as intent, i.reference,
        m.object_id as object, m.payout_id as payout, m.created_at, m.available_at
      from movements m left join intents i on i.id = m.intent_id
      where m.account = $1 and m.created_at between $2 and $3
        and m.created_at >= $4 and (m.created_at > $4 or m.seq > $5) ${payoutId === null ? "" : "and m.payout_id = $7"}
      order by m.created_at, m.seq limit $6`,
    values: [
      ...[page.account, page.from, page.until, page.after.created_at, page.after.seq, page.limit],
      ...(payoutId === null ? [] : [payoutId]),
    ],
  });
  return rows;
}

/** By currency; `reserved` is in neither `available` nor `pending`. */
export interface BalanceRow {
  readonly currency: string;
  readonly available: number;
  readonly pending: number;
  readonly reserved: number;
}

/** @param until what moved later is left out */
export async function readBalance(db: Db, account: string, until: Date): Promise<BalanceRow[]> {
  const { rows } = await db.query<BalanceRow>({
    name: "read-balance",
    text: `select currency,
        coalesce(sum(amount - fee) filter (where available_at <= now()), 0)::bigint as available,
        coalesce(sum(amount - fee) filter (where available_at > now()), 0)::bigint as pending,
        coalesce(-sum(amount) filter (where type in ('reserve', 'release')), 0)::bigint as reserved
      from movements where account = $1 and created_at <= $2 group by currency order by currency`,
    values: [account, until],
  });
  return rows;
}

/** A movement of no payment, available at once. */
export async function insertMovement(
  db: Db,
  {
    id,
    account,
    type,
    amount,
    currency,
  }: Pick<NewMovement, "id" | "type" | "amount"> & {
    readonly account: string;
    readonly currency: string;
  },
): Promise<void> {
  await db.query(
    `insert into movements (id, account, type, amount, fee, currency, created_at, available_at)
      values ($1, $2, $3, $4, 0, $5, $6, $6)`,
    [id, account, type, amount, currency, new Date()],
  );
}
