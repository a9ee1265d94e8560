// The fee_schedules table: the schedule in effect, and the operators' list. SQL refuses changes of the past.

import { bigint, Columns, integer, type RowOf, text, time } from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";

const feeColumns = new Columns({
  /** `mer_…`, or `*` for every merchant. */
  merchantId: text,
  /** Or `*`. */
  currency: text,
  /** Or `*`. */
  connector: text,
  effectiveFrom: time,
  basisPoints: integer,
  fixedAmount: bigint,
  operator: text,
  note: text,
});

export type StoredFee = RowOf<typeof feeColumns>;
export type FeeKey = Pick<StoredFee, "merchantId" | "currency" | "connector" | "effectiveFrom">;

/**
 * A change takes effect this much later, so that whatever books after its beginning sees it: now() is the start of a
 * transaction, and the change is visible only from its commit on. The auditor computes fees by all that was committed.
 */
const notice = "interval '2 seconds'";

/** The most specific schedule first, then the latest. */
export const scheduleOrder = `f.merchant_id = '*', f.currency = '*', f.connector = '*', f.effective_from desc`;

/** The `from` and `where` of a query for schedules that have begun. @param of SQL expressions */
export function activeSchedules(of: { merchant: string; currency: string; connector: string; at: string }): string {
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
  const begun = activeSchedules({ ...placeholders, at: "coalesce($4::timestamptz, now())" });
  const [row] = await sql.rows<object>(`select f.* ${begun} order by ${scheduleOrder} limit 1`, [
    of.merchantId,
    of.currency,
    of.connector,
    at?.toISOString() ?? null,
  ]);
  return row && feeColumns.read(row);
}

export async function listSchedules(
  sql: Sql,
  merchantId: string,
  window: { limit: number; offset: bigint },
): Promise<{ schedules: StoredFee[]; total: bigint }> {
  const rows = await sql.rows<object>(
    `select * from fee_schedules where merchant_id = $1 order by currency, connector, effective_from limit $2 offset $3`,
    [merchantId, window.limit, window.offset],
  );
  const [all] = await sql.rows<{ n: string }>(`select count(*) as n from fee_schedules where merchant_id = $1`, [
    merchantId,
  ]);
  return { schedules: rows.map((row) => feeColumns.read(row)), total: BigInt(all?.n ?? 0) };
}

/**
 * @param fee `effectiveFrom` undefined: in 2 seconds, the earliest
 * @returns undefined: it would begin earlier
 */
export async function insertSchedule(
  sql: Sql,
  fee: Omit<StoredFee, "effectiveFrom"> & { effectiveFrom: Date | undefined },
): Promise<StoredFee | undefined> {
  const [row] = await sql.rows<object>(
    `insert into fee_schedules (merchant_id, currency, connector, effective_from, basis_points, fixed_amount, operator, note)
     select $1, $2, $3, begins, $5, $6, $7, $8
     from (select date_trunc('milliseconds', now()) + ${notice} as earliest), coalesce($4::timestamptz, earliest) as begins
     where begins >= earliest returning *`,
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
  return row && feeColumns.read(row);
}

/** Deletes a schedule that does not begin within 2 seconds. */
export async function deleteSchedule(sql: Sql, key: FeeKey): Promise<"removed" | "begun" | "unknown"> {
  const [row] = await sql.rows<{ begun: boolean }>(
    `with found as (
       select *, effective_from < now() + ${notice} as begun from fee_schedules
       where merchant_id = $1 and currency = $2 and connector = $3 and effective_from = $4),
     gone as (
       delete from fee_schedules f using found where not found.begun and f.merchant_id = found.merchant_id
         and f.currency = found.currency and f.connector = found.connector and f.effective_from = found.effective_from)
     select begun from found`,
    [key.merchantId, key.currency, key.connector, key.effectiveFrom.toISOString()],
  );
  return row === undefined ? "unknown" : row.begun ? "begun" : "removed";
}
