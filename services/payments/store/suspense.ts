// The suspense table: what processors hold or did in a payment's name that nobody asked for. The caller holds the lock
// on the payment whenever it writes here.
import { type Sql, type Tx, time } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { KnownItem, Suspense, SuspenseKind } from "../rules/suspense.ts";

export interface StoredSuspense extends KnownItem {
  readonly refundId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly connectorAccountId: string;
  readonly connectorRef: string;
  readonly operator: string;
  readonly note: string;
  readonly foundAt: Date;
  readonly closedAt: Date | undefined;
}

interface Row {
  id: string;
  kind: SuspenseKind;
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
  paid_by: string;
  kept_amount: string;
  state: Suspense["state"];
  resolution: StoredSuspense["resolution"];
  operator: string;
  note: string;
  found_at: string;
  closed_at: string | null;
}

/** The item of a kind about an object of the processor, or undefined. */
export async function suspenseOf(
  sql: Sql,
  connector: string,
  connectorRef: string,
  kind: SuspenseKind,
): Promise<StoredSuspense | undefined> {
  const [row] = await sql.rows<Row>(
    `select * from suspense where connector = $1 and connector_ref = $2 and kind = $3`,
    [connector, connectorRef, kind],
  );
  return row && suspenseFrom(row);
}

/** All items about an object of the processor. */
export async function suspenseAbout(sql: Sql, connector: string, connectorRef: string): Promise<StoredSuspense[]> {
  const rows = await sql.rows<Row>(`select * from suspense where connector = $1 and connector_ref = $2`, [
    connector,
    connectorRef,
  ]);
  return rows.map(suspenseFrom);
}

export async function findSuspense(sql: Sql, id: string): Promise<StoredSuspense | undefined> {
  const [row] = await sql.rows<Row>(`select * from suspense where id = $1`, [id]);
  return row && suspenseFrom(row);
}

/** Writes an item that is new, or what is held of a known one. @returns true when it is new. */
export async function saveSuspense(
  tx: Tx,
  item: Pick<
    StoredSuspense,
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
    | "amount"
    | "returned"
    | "paidBy"
    | "kept"
  >,
): Promise<boolean> {
  const [row] = await tx.rows<{ is_new: boolean }>(
    `insert into suspense (id, kind, payment_id, refund_id, merchant_id, environment, connector, connector_account_id, connector_ref,
       currency, amount, returned_amount, paid_by, kept_amount)
     values ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (connector, connector_ref, kind) do update set amount = excluded.amount,
       returned_amount = excluded.returned_amount, paid_by = excluded.paid_by, kept_amount = excluded.kept_amount
     where suspense.payment_id = excluded.payment_id
     returning xmax = 0 as is_new`,
    [
      item.id,
      item.kind,
      item.paymentId,
      item.refundId,
      item.merchantId,
      item.environment,
      item.connector,
      item.connectorAccountId,
      item.connectorRef,
      item.currency,
      item.amount,
      item.returned,
      item.paidBy,
      item.kept,
    ],
  );
  if (!row) throw new Error("the object is set aside in another payment's name");
  return row.is_new;
}

/** Ends an item. @param operator empty: by the processor's own word. @returns false when it is closed already. */
export async function closeSuspense(
  tx: Tx,
  id: string,
  end: { resolution: StoredSuspense["resolution"]; operator: string; note: string },
): Promise<boolean> {
  const rows = await tx.rows(
    `update suspense set state = 'closed', resolution = $2, operator = $3, note = $4, closed_at = now()
     where id = $1 and state = 'open' returning id`,
    [id, end.resolution, end.operator, end.note],
  );
  return rows.length === 1;
}

/**
 * An item is open again that had ended so: by the processor's own word, or by a person's because it held nothing.
 * @returns false when it had not.
 */
export async function reopenSuspense(
  tx: Tx,
  id: string,
  ended: readonly StoredSuspense["resolution"][],
): Promise<boolean> {
  const rows = await tx.rows(
    `update suspense set state = 'open', resolution = '', operator = '', note = '', closed_at = null
     where id = $1 and state = 'closed' and resolution = any($2) returning id`,
    [id, ended],
  );
  return rows.length === 1;
}

/** Oldest first: ids sort by creation. */
export async function listSuspense(
  sql: Sql,
  filter: { afterId: string; withClosed: boolean; limit: number },
): Promise<StoredSuspense[]> {
  const rows = await sql.rows<Row>(
    `select * from suspense where (state = 'open' or $2) and id > $1 order by id limit $3`,
    [filter.afterId, filter.withClosed, filter.limit],
  );
  return rows.map(suspenseFrom);
}

export async function countOpenSuspense(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ n: string }>(`select count(*) as n from suspense where state = 'open'`);
  return BigInt(row?.n ?? 0);
}

function suspenseFrom(row: Row): StoredSuspense {
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
    paidBy: row.paid_by,
    kept: BigInt(row.kept_amount),
    state: row.state,
    resolution: row.resolution,
    operator: row.operator,
    note: row.note,
    foundAt: time(row.found_at),
    closedAt: time(row.closed_at) ?? undefined,
  };
}

/** An item whose intent is due to be looked at. */
export interface DueLook {
  readonly item: StoredSuspense;
  /** When it is due again, unless this look is finished or the item changes: only its own claim may finish a look. */
  readonly lease: string;
}

/**
 * Claims items for a look at their intents. Each is due again after a minute, doubled with each look that was not
 * answered, up to an hour.
 */
export async function claimLooks(sql: Sql, limit: number): Promise<DueLook[]> {
  const rows = await sql.rows<Row & { lease: string }>(
    `with due as materialized (
       select id from suspense where next_look_at <= now() order by next_look_at limit $1 for update skip locked)
     update suspense s set unanswered_looks = least(unanswered_looks + 1, 6),
       next_look_at = now() + make_interval(secs => least(60 * 2 ^ unanswered_looks, 3600))
     from due where s.id = due.id returning s.*, s.next_look_at::text as lease`,
    [limit],
  );
  return rows.map((row) => ({ item: suspenseFrom(row), lease: row.lease }));
}

/**
 * Ends a look that was answered: an open item is looked at again after a day, a closed one no more. An item that has
 * changed since the claim, by this look or beside it, keeps the time that its change gave it. Needs no lock on the
 * payment.
 */
export async function finishLook(tx: Tx, { item, lease }: DueLook): Promise<void> {
  await tx.rows(
    `update suspense set unanswered_looks = 0, next_look_at = case state when 'open' then now() + interval '1 day' end
     where id = $1 and next_look_at = $2::timestamptz`,
    [item.id, lease],
  );
}

/** Items of an account about these intents that hold money, or held some; by their age. */
export async function chargesAbout(
  sql: Sql,
  account: { readonly id: string; readonly connector: string },
  connectorRefs: readonly string[],
): Promise<StoredSuspense[]> {
  const rows = await sql.rows<Row>(
    `select * from suspense where connector = $2 and connector_ref = any($3::text[]) and connector_account_id = $1
       and kind in ('second_charge', 'other_amount') order by id`,
    [account.id, account.connector, connectorRefs],
  );
  return rows.map(suspenseFrom);
}

/** The processor's ids of intents whose items began to hold something in the period, or less: by the journal. */
export async function chargesMovedIn(
  sql: Sql,
  accountId: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<string[]> {
  const rows = await sql.rows<{ connector_ref: string }>(
    `select distinct connector_ref from suspense s
     where connector_account_id = $1 and kind in ('second_charge', 'other_amount') and exists (
       select from journal j where j.payment_id = s.payment_id and j.kind in ('suspense_held', 'suspense_released')
         and j.cause = s.id and j.created_at >= $2 and j.created_at < $3)
     order by connector_ref`,
    [accountId, from.toISOString(), to.toISOString()],
  );
  return rows.map((row) => row.connector_ref);
}
