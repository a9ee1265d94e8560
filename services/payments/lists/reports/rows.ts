// Reads the rows of a report, oldest first, from a position on. A page costs the same wherever it starts, and needs no
// snapshot of the whole range: rows that were recorded after the report was ordered are left out.
import type { Sql } from "#platform/database/database.ts";
import type { ReportType } from "../../../public-json/report.ts";
import type { Owner } from "../../store/payment-records.ts";
import type { ReportColumn } from "./columns.ts";

/** The last row that was read: PostgreSQL's text of its time, and its id; at first the range's begin and no id. */
export interface RowPosition {
  readonly at: string;
  readonly id: string;
}

export interface ReportRow extends RowPosition {
  readonly values: readonly (string | number | null)[];
}

interface ReportRange extends Owner {
  readonly type: ReportType;
  /** Not included. */
  readonly until: string;
  readonly orderedAt: string;
}

// $1 merchant, $2 environment, $3 and $4 the position, $5 end, $6 creation of the report, $7 rows.
const owned = "t.merchant_id = $1 and t.environment = $2";
const after = (time: string) =>
  `${time} >= $3::timestamptz and (${time} > $3 or t.id > $4) and ${time} < least($5::timestamptz, $6::timestamptz)`;

// Payouts of which a page may have lines: each has at least one.
const payoutsMax = 10;

// Ranges instead of an equality: the planner then reads the index in its order, and no other one.
/** Lines of each payout, then the rest that none explains. A position's id is the payout's, a blank and the line's. */
const payoutLines = `(select * from payouts t where ${owned} and t.created_at >= $3::timestamptz
    and (t.created_at > $3 or t.id >= split_part($4, ' ', 1)) and t.created_at < least($5::timestamptz, $6::timestamptz) and t.posted_at < $6::timestamptz
    order by t.created_at, t.id limit ${payoutsMax}) po
  cross join lateral (select case when (po.created_at, po.id) = ($3, split_part($4, ' ', 1)) then split_part($4, ' ', 2)
    else '' end as line_id) done
  cross join lateral (
    (select id, id as line_id, type, connector_account_id, amount, fee, net, currency, source_amount, source_currency, payment_id,
        refund_id, dispute_id, occurred_at, posted_at, available_at
      from movements where (payout_id, id) > (po.id, done.line_id) and payout_id <= po.id order by payout_id, id limit $7)
    union all
    select null, 'unattributed', 'unattributed', po.connector_account_id, rest.amount, 0, rest.amount, po.currency, null, null, null,
      null, null, null, null, null
    from (select coalesce(po.unattributed_amount, po.amount - (
      select coalesce(sum(net), 0) from movements where payout_id = po.id))::bigint as amount offset 0) rest
    where rest.amount <> 0 and done.line_id < 'unattributed') t`;

const ofPayment = "join payments p on p.id = t.payment_id";
const sources: { readonly [T in ReportType]: Record<"from" | "time" | "id", string> } = {
  payments: {
    from: `payments t where ${owned} and t.visible and ${after("t.created_at")}`,
    time: "t.created_at",
    id: "t.id",
  },
  refunds: {
    from: `refunds t ${ofPayment} where ${owned} and ${after("t.created_at")}`,
    time: "t.created_at",
    id: "t.id",
  },
  disputes: {
    from: `disputes t ${ofPayment} where ${owned} and ${after("t.opened_at")}`,
    time: "t.opened_at",
    id: "t.id",
  },
  balance_transactions: {
    from: `movements t where ${owned} and ${after("t.occurred_at")} and t.posted_at < $6::timestamptz`,
    time: "t.occurred_at",
    id: "t.id",
  },
  payout_reconciliation: { from: payoutLines, time: "po.created_at", id: "po.id || ' ' || t.line_id" },
};

/** The next rows; none: the end. @param sql plans each page for its own position */
export async function readReportRows(
  sql: Sql,
  { merchantId, environment, type, until, orderedAt }: ReportRange,
  columns: readonly ReportColumn[],
  { at, id }: RowPosition,
  rowsMax: number,
): Promise<ReportRow[]> {
  const source = sources[type];
  const values = columns.map((column, i) => `${column.sql} as c${i}`).join(", ");
  const order = type === "payout_reconciliation" ? "po.created_at, po.id, t.line_id" : `${source.time}, t.id`;
  const rows = await sql.rows<RowPosition & Readonly<Record<string, string | number | null>>>(
    `select ${source.time} as at, ${source.id} as id, ${values} from ${source.from} order by ${order} limit $7`,
    [merchantId, environment, at, id, until, orderedAt, rowsMax],
  );
  return rows.map((row) => ({ at: row.at, id: row.id, values: columns.map((_, i) => row[`c${i}`] ?? null) }));
}
