// The fee_schedules table: which schedule is in effect, and the operators' list of them. SQL refuses whatever would
// change the past.
import { parseTime, type Sql } from "#platform/database/database.ts";

export interface FeeKey {
  /** `mer_…`, or `*` for every one; so are the next two. */
  readonly merchantId: string;
  readonly currency: string;
  readonly connector: string;
  readonly effectiveFrom: Date;
}

export interface StoredFee extends FeeKey {
  readonly basisPoints: number;
  /** Minor units. */
  readonly fixedAmount: bigint;
  readonly operator: string;
  readonly note: string;
}

interface Row {
  merchant_id: string;
  currency: string;
  connector: string;
  effective_from: string;
  basis_points: number;
  fixed_amount: string;
  operator: string;
  note: string;
}

/** The more specific one goes before the others from its beginning on. */
export const scheduleOrder = `f.merchant_id = '*', f.currency = '*', f.connector = '*', f.effective_from desc`;

/** Schedules that have begun, as the `from` and `where` of a query. The words are SQL expressions. */
export function schedulesBegun(of: { merchant: string; currency: string; connector: string; at: string }): string {
  return `from fee_schedules f
    where f.merchant_id in (${of.merchant}, '*') and f.currency in (${of.currency}, '*')
      and f.connector in (${of.connector}, '*') and f.effective_from <= ${of.at}`;
}

/** @param at undefined: now. */
export async function findSchedule(
  sql: Sql,
  of: { merchantId: string; currency: string; connector: string },
  at: Date | undefined,
): Promise<StoredFee | undefined> {
  const placeholders = { merchant: "$1::text", currency: "$2::text", connector: "$3::text" };
  const begun = schedulesBegun({ ...placeholders, at: "coalesce($4::timestamptz, now())" });
  const [row] = await sql.rows<Row>(`select f.* ${begun} order by ${scheduleOrder} limit 1`, [
    of.merchantId,
    of.currency,
    of.connector,
    at?.toISOString() ?? null,
  ]);
  return row && feeOf(row);
}

/** Those of one merchant, or of `*`. */
export async function listSchedules(
  sql: Sql,
  merchantId: string,
  window: { limit: number; offset: bigint },
): Promise<{ schedules: StoredFee[]; total: bigint }> {
  const rows = await sql.rows<Row>(
    `select * from fee_schedules where merchant_id = $1 order by currency, connector, effective_from limit $2 offset $3`,
    [merchantId, window.limit, window.offset],
  );
  const [all] = await sql.rows<{ n: string }>(`select count(*) as n from fee_schedules where merchant_id = $1`, [
    merchantId,
  ]);
  return { schedules: rows.map(feeOf), total: BigInt(all?.n ?? 0) };
}

/**
 * @param fee `effectiveFrom` undefined: the next millisecond, the finest time that a caller can name. @returns
 * undefined when it would begin in the past.
 */
export async function insertSchedule(
  sql: Sql,
  fee: Omit<StoredFee, "effectiveFrom"> & { effectiveFrom: Date | undefined },
): Promise<StoredFee | undefined> {
  const [row] = await sql.rows<Row>(
    `insert into fee_schedules (merchant_id, currency, connector, effective_from, basis_points, fixed_amount, operator, note)
     select $1, $2, $3, begins, $5, $6, $7, $8
     from coalesce($4::timestamptz, date_trunc('milliseconds', now()) + interval '1 millisecond') as begins
     where begins >= now() returning *`,
    [
      fee.merchantId,
      fee.currency,
      fee.connector,
      fee.effectiveFrom?.toISOString() ?? null,
      fee.basisPoints,
      fee.fixedAmount,
      fee.operator,
      fee.note,
    ],
  );
  return row && feeOf(row);
}

/** Removes a schedule that has not begun. */
export async function deleteSchedule(sql: Sql, key: FeeKey): Promise<"removed" | "begun" | "unknown"> {
  const [row] = await sql.rows<{ begun: boolean }>(
    `with found as (
       select *, effective_from <= now() as begun from fee_schedules
       where merchant_id = $1 and currency = $2 and connector = $3 and effective_from = $4),
     gone as (
       delete from fee_schedules f using found where not found.begun and f.merchant_id = found.merchant_id
         and f.currency = found.currency and f.connector = found.connector and f.effective_from = found.effective_from)
     select begun from found`,
    [key.merchantId, key.currency, key.connector, key.effectiveFrom.toISOString()],
  );
  return row === undefined ? "unknown" : row.begun ? "begun" : "removed";
}

function feeOf(row: Row): StoredFee {
  return {
    merchantId: row.merchant_id,
    currency: row.currency,
    connector: row.connector,
    effectiveFrom: parseTime(row.effective_from),
    basisPoints: row.basis_points,
    fixedAmount: BigInt(row.fixed_amount),
    operator: row.operator,
    note: row.note,
  };
}
