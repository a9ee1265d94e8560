// Operations as operators see them: those that are parked, one with its history, and what an operator does about one.
// The history is written in the statement or transaction of the change that it tells of.
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Operation } from "./operations.ts";

export interface OperationRecord {
  readonly id: string;
  readonly kind: Operation["kind"];
  readonly state: Operation["state"];
  readonly merchantId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  readonly refundId: string;
  readonly connector: string;
  readonly connectorAccountId: string;
  readonly reference: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly tries: number;
  readonly lastError: string;
  readonly nextTryAt: Date;
  readonly createdAt: Date;
}

export interface OperationFact {
  readonly fact: "in_doubt" | "asked" | "parked" | "retried" | "resolved";
  readonly operator: string;
  readonly note: string;
  readonly at: Date;
}

interface Row {
  id: string;
  kind: Operation["kind"];
  state: Operation["state"];
  merchant_id: string;
  environment: Environment;
  payment_id: string;
  refund_id: string | null;
  connector: string;
  connector_account_id: string;
  reference: string;
  amount: string;
  currency: string;
  tries: number;
  last_error: string;
  next_try_at: string;
  created_at: string;
}

const records = `select o.id, o.kind, o.state, p.merchant_id, p.environment, o.payment_id, o.refund_id, p.connector,
    p.connector_account_id, o.reference, coalesce(o.amount, r.amount, p.amount) as amount, p.currency, o.tries, o.last_error,
    o.next_try_at, o.created_at
  from operations o join payments p on p.id = o.payment_id left join refunds r on r.id = o.refund_id`;
const historyMax = 200;
const noteMax = 2_000;

/** Parked operations after the id, oldest first: ids sort by creation. */
export async function parkedOperations(sql: Sql, afterId: string, limit: number): Promise<OperationRecord[]> {
  const rows = await sql.rows<Row>(`${records} where o.state = 'parked' and o.id > $1 order by o.id limit $2`, [
    afterId,
    limit,
  ]);
  return rows.map(recordOf);
}

export async function countParked(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ n: string }>(`select count(*) as n from operations where state = 'parked'`);
  return BigInt(row?.n ?? 0);
}

export async function findOperationRecord(sql: Sql, id: string): Promise<OperationRecord | undefined> {
  const [row] = await sql.rows<Row>(`${records} where o.id = $1`, [id]);
  return row && recordOf(row);
}

/** Oldest first, the latest ones. */
export async function historyOf(sql: Sql, id: string): Promise<OperationFact[]> {
  const rows = await sql.rows<Omit<OperationFact, "at"> & { at: string }>(
    `select fact, operator, note, at from (
       select * from operation_history where operation_id = $1 order by id desc limit ${historyMax}) latest order by id`,
    [id],
  );
  return rows.map((row) => ({ ...row, at: parseTime(row.at) }));
}

/** @param operator undefined: the service itself. */
export async function appendHistory(
  sql: Sql,
  operationId: string,
  fact: OperationFact["fact"],
  note: string,
  operator = "",
): Promise<void> {
  await sql.rows(`insert into operation_history (operation_id, fact, operator, note) values ($1, $2, $3, $4)`, [
    operationId,
    fact,
    operator,
    note.slice(0, noteMax),
  ]);
}

/** Moves a parked operation on. @returns false when it is not parked (any more). */
export async function unparkOperation(tx: Tx, id: string, to: "started" | "done"): Promise<boolean> {
  const rows = await tx.rows(
    `update operations set state = $2, tries = 1, next_try_at = now() where id = $1 and state = 'parked' returning id`,
    [id, to],
  );
  return rows.length === 1;
}

function recordOf(row: Row): OperationRecord {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    merchantId: row.merchant_id,
    environment: row.environment,
    paymentId: row.payment_id,
    refundId: row.refund_id ?? "",
    connector: row.connector,
    connectorAccountId: row.connector_account_id,
    reference: row.reference,
    amount: BigInt(row.amount),
    currency: row.currency,
    tries: row.tries,
    lastError: row.last_error,
    nextTryAt: parseTime(row.next_try_at),
    createdAt: parseTime(row.created_at),
  };
}
