// The suspense table: unexpected funds, one row per object of a processor. The caller holds the lock on the payment
// whenever it writes here.
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Outcome } from "../rules/payment.ts";
import type { Claimant, Funds, FundsKind, FundsUpdate } from "../rules/unexpected-funds.ts";

export type FundsResolution = "" | "given_back" | "taken" | "closed" | "gone" | "found";

export interface StoredFunds extends Funds {
  readonly paymentId: string;
  readonly refundId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly connectorAccountId: string;
  readonly connectorRef: string;
  readonly resolution: FundsResolution;
  readonly operator: string;
  readonly note: string;
  readonly foundAt: Date;
  readonly closedAt: Date | undefined;
  /** The payment in whose name it is, as far as it decides what can be done. */
  readonly payment: Claimant;
}

interface Row {
  id: string;
  kind: FundsKind;
  payment_id: string;
  refund_id: string | null;
  merchant_id: string;
  environment: Environment;
  connector: string;
  connector_account_id: string;
  connector_ref: string;
  currency: string;
  amount: string;
  returned_amount: string;
  closed_amount: string;
  state: "open" | "refunding" | "closed";
  resolution: FundsResolution;
  operator: string;
  note: string;
  found_at: string;
  closed_at: string | null;
  payment_connector_ref: string | null;
  payment_currency: string;
  payment_amount: string;
  payment_outcome: Outcome;
  payment_authorized_at: string | null;
}

const selectFunds = `
  select s.*, p.connector_ref as payment_connector_ref, p.currency as payment_currency, p.amount as payment_amount,
    p.outcome as payment_outcome, p.authorized_at as payment_authorized_at
  from suspense s join payments p on p.id = s.payment_id`;

/** The rows of an object of the processor, oldest first. */
export async function fundsAbout(sql: Sql, connector: string, connectorRef: string): Promise<StoredFunds[]> {
  const rows = await sql.rows<Row>(`${selectFunds} where s.connector = $1 and s.connector_ref = $2 order by s.id`, [
    connector,
    connectorRef,
  ]);
  return rows.map(fundsOf);
}

export async function findFunds(sql: Sql, id: string): Promise<StoredFunds | undefined> {
  const [row] = await sql.rows<Row>(`${selectFunds} where s.id = $1`, [id]);
  return row && fundsOf(row);
}

export type NewFunds = Pick<
  StoredFunds,
  | "id"
  | "kind"
  | "paymentId"
  | "refundId"
  | "merchantId"
  | "environment"
  | "connector"
  | "connectorAccountId"
  | "connectorRef"
  | "currency"
>;

/** Adds an open row that holds nothing yet. @throws when the object has a row in another payment's name */
export async function insertFunds(tx: Tx, funds: NewFunds): Promise<void> {
  await tx.rows(
    `insert into suspense (id, kind, payment_id, refund_id, merchant_id, environment, connector, connector_account_id,
       connector_ref, currency, amount)
     values ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, 0)`,
    [
      funds.id,
      funds.kind,
      funds.paymentId,
      funds.refundId,
      funds.merchantId,
      funds.environment,
      funds.connector,
      funds.connectorAccountId,
      funds.connectorRef,
      funds.currency,
    ],
  );
}

/** Writes what a report says of an intent's row. What has changed is checked again after a minute. */
export async function updateFunds(tx: Tx, id: string, update: FundsUpdate): Promise<void> {
  await tx.rows(
    `update suspense set kind = $2, amount = $3, returned_amount = $4, paid_by = $5, state = $6, resolution = $7,
       closed_at = case when $6 = 'closed' then now() end,
       operator = case when $6 = 'refunding' then operator else '' end,
       note = case when $6 = 'refunding' then note else '' end,
       next_look_at = now() + interval '1 minute'
     where id = $1 and (kind, amount, returned_amount, paid_by, state) is distinct from ($2, $3, $4, $5, $6)`,
    [id, update.kind, update.amount, update.returned, update.paidBy, update.state, update.resolution],
  );
}

/** Writes how much of a second refund stands. */
export async function updateSecondRefund(tx: Tx, id: string, amount: bigint, returned: bigint): Promise<void> {
  await tx.rows(`update suspense set amount = $2, returned_amount = $3, next_look_at = null where id = $1`, [
    id,
    amount,
    returned,
  ]);
}

/** An operator's refund of the row begins. */
export async function beginRefund(tx: Tx, id: string, by: { operator: string; note: string }): Promise<void> {
  await tx.rows(
    `update suspense set state = 'refunding', operator = $2, note = $3, next_look_at = now() + interval '1 minute'
     where id = $1`,
    [id, by.operator, by.note],
  );
}

/** An operator's refund of the row came to nothing. */
export async function endRefund(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update suspense set state = 'open', operator = '', note = '' where id = $1 and state = 'refunding'`, [
    id,
  ]);
}

/**
 * Ends a row that is not closed. @param end `operator` empty: by the processor's own word; `moved`: what the closing
 * moves to `adjustments`, minor units. @returns false when it is closed already.
 */
export async function closeFunds(
  tx: Tx,
  id: string,
  end: { resolution: FundsResolution; operator: string; note: string; moved?: bigint },
): Promise<boolean> {
  const rows = await tx.rows(
    `update suspense set state = 'closed', resolution = $2, operator = $3, note = $4, closed_at = now(),
       closed_amount = closed_amount + $5, next_look_at = now() + interval '1 minute'
     where id = $1 and state <> 'closed' returning id`,
    [id, end.resolution, end.operator, end.note, end.moved ?? 0n],
  );
  return rows.length === 1;
}

/** A lost intent that the processor knew again is lost once more. @returns false: its row is open, or an operator's */
export async function reopenLostIntent(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.rows(
    `update suspense set state = 'open', resolution = '', closed_at = null, next_look_at = now() + interval '1 minute'
     where id = $1 and state = 'closed' and resolution = 'found' returning id`,
    [id],
  );
  return rows.length === 1;
}

/** Oldest first: ids sort by creation. */
export async function listFunds(
  sql: Sql,
  filter: { afterId: string; withClosed: boolean; limit: number },
): Promise<StoredFunds[]> {
  const rows = await sql.rows<Row>(
    `${selectFunds} where (s.state <> 'closed' or $2) and s.id > $1 order by s.id limit $3`,
    [filter.afterId, filter.withClosed, filter.limit],
  );
  return rows.map(fundsOf);
}

export async function countOpenFunds(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ n: string }>(`select count(*) as n from suspense where state <> 'closed'`);
  return BigInt(row?.n ?? 0);
}

/**
 * The processor's ids of intents in the account, among these, whose money is not, or not all, booked as a payment's
 * own.
 */
export async function intentsWithFunds(
  sql: Sql,
  account: { readonly id: string; readonly connector: string },
  connectorRefs: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ connector_ref: string }>(
    `select s.connector_ref from suspense s join payments p on p.id = s.payment_id
     where s.connector = $2 and s.connector_ref = any($3::text[]) and s.connector_account_id = $1
       and (s.kind in ('second_charge', 'excess_capture') or (s.kind = 'other_amount' and p.captured_amount = 0))`,
    [account.id, account.connector, connectorRefs],
  );
  return new Set(rows.map((row) => row.connector_ref));
}

/** A row that is due for a check at the processor. */
export interface DueCheck {
  readonly funds: StoredFunds;
  /** When it is due again unless this check is finished or the row changes. */
  readonly dueAgain: string;
}

/** Claims rows for a check. A check that gets no answer is repeated after ten minutes. */
export async function claimFundsChecks(sql: Sql, limit: number): Promise<DueCheck[]> {
  const rows = await sql.rows<Row & { due_again: string }>(
    `with due as materialized (
       select id from suspense where next_look_at <= now() order by next_look_at limit $1 for update skip locked),
     claimed as (
       update suspense s set next_look_at = now() + interval '10 minutes' from due where s.id = due.id
       returning s.id, s.next_look_at::text as due_again)
     select f.*, c.due_again from claimed c join (${selectFunds}) f using (id)`,
    [limit],
  );
  return rows.map((row) => ({ funds: fundsOf(row), dueAgain: row.due_again }));
}

/** Ends a check that was answered: an open row is due again after a day. A row that has changed keeps its time. */
export async function finishFundsCheck(tx: Tx, { funds, dueAgain }: DueCheck): Promise<void> {
  await tx.rows(
    `update suspense set next_look_at = case when state <> 'closed' then now() + interval '1 day' end
     where id = $1 and next_look_at = $2::timestamptz`,
    [funds.id, dueAgain],
  );
}

/** The row's object is checked at once. */
export async function checkFundsNow(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update suspense set next_look_at = now() where id = $1`, [id]);
}

function fundsOf(row: Row): StoredFunds {
  return {
    id: row.id,
    kind: row.kind,
    paymentId: row.payment_id,
    refundId: row.refund_id ?? "",
    merchantId: row.merchant_id,
    environment: row.environment,
    connector: row.connector,
    connectorAccountId: row.connector_account_id,
    connectorRef: row.connector_ref,
    currency: row.currency,
    amount: BigInt(row.amount),
    returned: BigInt(row.returned_amount),
    closed: BigInt(row.closed_amount),
    state: row.resolution === "taken" ? "accepted" : row.state,
    resolution: row.resolution,
    operator: row.operator,
    note: row.note,
    foundAt: parseTime(row.found_at),
    closedAt: parseTime(row.closed_at) ?? undefined,
    payment: {
      id: row.payment_id,
      connectorRef: row.payment_connector_ref ?? "",
      currency: row.payment_currency,
      state: {
        amount: BigInt(row.payment_amount),
        outcome: row.payment_outcome,
        authorizedAt: parseTime(row.payment_authorized_at) ?? undefined,
      },
    },
  };
}
