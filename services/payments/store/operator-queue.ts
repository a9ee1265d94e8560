// Operations as operators see them: parked ones, one with its history, and its retry or end by an operator. A history
// entry is written in the transaction of its change.

import { Columns, type RowOf, text, time } from "#platform/database/columns.ts";
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import { operationColumns } from "./operations.ts";
import { paymentColumns } from "./payment-columns.ts";

const operationPart = operationColumns.pick("id", "kind", "state", "paymentId", "refundId", "reference", "tries");
const queuePart = new Columns({ lastError: text, nextTryAt: time, createdAt: time });
const paymentPart = paymentColumns.pick("merchantId", "environment", "connector", "connectorAccountId", "currency");

export interface OperationRecord
  extends RowOf<typeof operationPart>,
    RowOf<typeof queuePart>,
    RowOf<typeof paymentPart> {
  /** Minor units. */
  readonly amount: bigint;
}

interface OperationFact {
  readonly fact: "in_doubt" | "asked" | "parked" | "retried" | "resolved";
  readonly operator: string;
  readonly note: string;
  readonly at: Date;
}

interface Row {
  readonly amount: string;
}

const records = `select ${operationPart.names("o")}, ${queuePart.names("o")}, ${paymentPart.names("p")},
    coalesce(o.amount, r.amount, p.amount) as amount
  from operations o join payments p on p.id = o.payment_id left join refunds r on r.id = o.refund_id`;
const historyMax = 200;
const noteMax = 2_000;

/** Parked operations after the id, oldest first, since ids sort by creation. */
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

/** The latest entries, oldest first. */
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

/** @returns false: the operation is not parked */
export async function unparkOperation(tx: Tx, id: string, to: "started" | "done"): Promise<boolean> {
  const rows = await tx.rows(
    `update operations set state = $2, tries = 1, next_try_at = now() where id = $1 and state = 'parked' returning id`,
    [id, to],
  );
  return rows.length === 1;
}

function recordOf(row: Row): OperationRecord {
  const [operation, queue, payment] = [operationPart.read(row), queuePart.read(row), paymentPart.read(row)];
  return { ...operation, ...queue, ...payment, amount: BigInt(row.amount) };
}
