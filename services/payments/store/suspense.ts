// The suspense table: unexpected funds, one row per object of a processor. The caller holds the lock on the payment
// whenever it writes here.
import { asJson } from "#platform/database/batch.ts";
import { bigint, Columns, optionalColumn, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Outcome } from "../rules/payment.ts";
import type { Claimant, Funds, FundsKind, FundsUpdate } from "../rules/unexpected-funds.ts";
import { nullableText } from "./payment-columns.ts";

type FundsResolution = "" | "given_back" | "taken" | "closed" | "gone" | "found";

const identityColumns = new Columns({
  id: text,
  kind: sqlColumn<FundsKind>("text"),
  paymentId: text,
  refundId: nullableText,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  connector: text,
  connectorAccountId: text,
  connectorRef: text,
  currency: text,
});
const endColumns = new Columns({
  resolution: sqlColumn<FundsResolution>("text"),
  operator: text,
  note: text,
  foundAt: time,
  closedAt: optionalColumn(time),
});
const fundsColumns = new Columns({
  amount: bigint,
  returnedAmount: bigint,
  closedAmount: bigint,
  state: sqlColumn<"open" | "refunding" | "closed">("text"),
});
const claimantColumns = new Columns({
  paymentConnectorRef: nullableText,
  paymentConnectorAccountId: text,
  paymentCurrency: text,
  paymentAmount: bigint,
  paymentOutcome: sqlColumn<Outcome>("text"),
  paymentAuthorizedAt: optionalColumn(time),
});

type NewFunds = RowOf<typeof identityColumns>;

export interface StoredFunds extends Funds, NewFunds, RowOf<typeof endColumns> {
  /** The part of the payment that decides which actions are possible. */
  readonly payment: Claimant;
}

const selectFunds = `
  select s.*, p.connector_ref as payment_connector_ref, p.connector_account_id as payment_connector_account_id, p.currency as payment_currency, p.amount as payment_amount,
    p.outcome as payment_outcome, p.authorized_at as payment_authorized_at
  from suspense s join payments p on p.id = s.payment_id`;

/** Rows of one of the processor's objects, oldest first. */
export async function fundsAbout(sql: Sql, connector: string, connectorRef: string): Promise<StoredFunds[]> {
  const rows = await sql.rows<object>(`${selectFunds} where s.connector = $1 and s.connector_ref = $2 order by s.id`, [
    connector,
    connectorRef,
  ]);
  return rows.map(fundsOf);
}

export async function findFunds(sql: Sql, id: string): Promise<StoredFunds | undefined> {
  const [row] = await sql.rows<object>(`${selectFunds} where s.id = $1`, [id]);
  return row && fundsOf(row);
}

/** Inserts an open row with the amount 0. @throws when the object has a row for another payment */
export async function insertFunds(tx: Tx, funds: NewFunds): Promise<void> {
  await tx.rows(
    `insert into suspense (${identityColumns.names()}, amount)
     select ${identityColumns.names()}, 0 from jsonb_to_recordset($1) as f (${identityColumns.types})`,
    [asJson([identityColumns.write(funds)])],
  );
}

/** Applies a report to an intent's row. A changed row is checked again after a minute. */
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

/** Sets the amounts of a second refund. */
export async function updateSecondRefund(tx: Tx, id: string, amount: bigint, returned: bigint): Promise<void> {
  await tx.rows(`update suspense set amount = $2, returned_amount = $3, next_look_at = null where id = $1`, [
    id,
    amount,
    returned,
  ]);
}

/** Begins an operator's refund of the row. */
export async function beginRefund(tx: Tx, id: string, by: { operator: string; note: string }): Promise<void> {
  await tx.rows(
    `update suspense set state = 'refunding', operator = $2, note = $3, next_look_at = now() + interval '1 minute'
     where id = $1`,
    [id, by.operator, by.note],
  );
}

/** Reopens the row after an operator's refund failed. */
export async function endRefund(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update suspense set state = 'open', operator = '', note = '' where id = $1 and state = 'refunding'`, [
    id,
  ]);
}

/**
 * Closes a row.
 * @param end `operator` empty: closed by the processor's report; `moved`: minor units moved to `adjustments`
 * @returns false: it is closed already
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

/**
 * Reopens the row of a lost intent that was found and lost again.
 * @returns false: the row is open or an operator closed it
 */
export async function reopenLostIntent(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.rows(
    `update suspense set state = 'open', resolution = '', closed_at = null, next_look_at = now() + interval '1 minute'
     where id = $1 and state = 'closed' and resolution = 'found' returning id`,
    [id],
  );
  return rows.length === 1;
}

/** Oldest first, since ids sort by creation. */
export async function listFunds(
  sql: Sql,
  filter: { afterId: string; withClosed: boolean; limit: number },
): Promise<StoredFunds[]> {
  const rows = await sql.rows<object>(
    `${selectFunds} where (s.state <> 'closed' or $2) and s.id > $1 order by s.id limit $3`,
    [filter.afterId, filter.withClosed, filter.limit],
  );
  return rows.map(fundsOf);
}

export async function countOpenFunds(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ n: string }>(`select count(*) as n from suspense where state <> 'closed'`);
  return BigInt(row?.n ?? 0);
}

/** The given intents of the account whose money is not, or not completely, booked as a payment's own. */
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
  /** Next check unless this one finishes or the row changes. */
  readonly dueAgain: string;
}

/** Claims rows for a check. A check that gets no answer is repeated after ten minutes. */
export async function claimFundsChecks(sql: Sql, limit: number): Promise<DueCheck[]> {
  const rows = await sql.rows<{ due_again: string }>(
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

/** Ends an answered check. An open row is due again after a day; a row that has changed keeps its time. */
export async function finishFundsCheck(tx: Tx, { funds, dueAgain }: DueCheck): Promise<void> {
  await tx.rows(
    `update suspense set next_look_at = case when state <> 'closed' then now() + interval '1 day' end
     where id = $1 and next_look_at = $2::timestamptz`,
    [funds.id, dueAgain],
  );
}

/** Makes the row's next check due now. */
export async function checkFundsNow(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update suspense set next_look_at = now() where id = $1`, [id]);
}

function fundsOf(row: object): StoredFunds {
  const identity = identityColumns.read(row);
  const end = endColumns.read(row);
  const { amount, returnedAmount, closedAmount, state } = fundsColumns.read(row);
  const payment = claimantColumns.read(row);
  return {
    ...identity,
    ...end,
    amount,
    returned: returnedAmount,
    closed: closedAmount,
    state: end.resolution === "taken" ? "accepted" : state,
    payment: {
      id: identity.paymentId,
      connectorRef: payment.paymentConnectorRef,
      connectorAccountId: payment.paymentConnectorAccountId,
      currency: payment.paymentCurrency,
      state: {
        amount: payment.paymentAmount,
        outcome: payment.paymentOutcome,
        authorizedAt: payment.paymentAuthorizedAt,
      },
    },
  };
}
