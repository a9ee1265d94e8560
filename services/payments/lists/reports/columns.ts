// The columns of each report, which docs/reports.md lists: name, meaning, unit and SQL of the value. A published column
// keeps its name and meaning; new ones are added at the end.
import { csvCell, majorUnits } from "../../../public-json/csv.ts";
import type { ReportType } from "../../../public-json/report.ts";

export interface ReportColumn {
  readonly name: string;
  readonly meaning: string;
  readonly unit: "text" | "date" | "time" | "minor units" | "major units";
  /** Of the row `t`; of `major units` minor units, a blank and the currency. */
  readonly sql: string;
}

const text = (name: string, meaning: string, sql = `t.${name}`): ReportColumn[] => [
  { name, meaning, unit: "text", sql },
];
const time = (name: string, meaning: string): ReportColumn[] => [{ name, meaning, unit: "time", sql: `t.${name}` }];
/** An amount as an integer, and with decimals. */
const amount = (name: string, meaning: string, sql = `t.${name}`, currency = "t.currency"): ReportColumn[] => [
  { name, meaning, unit: "minor units", sql },
  { name: `${name}_decimal`, meaning, unit: "major units", sql: `${sql} || ' ' || ${currency}` },
];

const currency = text("currency", "ISO 4217");
const ofPayment = [
  ...text("reference", "order number", "p.order_reference"),
  ...text("customer_email", "the buyer's", "p.customer_email"),
];
// As netAmount of rules/payment.ts.
const netAmount = `case when t.captured_amount = 0 then 0 else t.captured_amount - t.refunded_amount - t.fee_amount - (
  select coalesce(sum(d.amount), 0) from disputes d where d.payment_id = t.id and d.status = 'lost' and not d.released) end`;

const payments = [
  ...text("id", "`pay_…`"),
  ...time("created_at", "creation"),
  ...text("status", "when written"),
  ...currency,
  ...amount("amount", "requested"),
  ...amount("captured_amount", "captured"),
  ...amount("refunded_amount", "refunded"),
  ...amount("fee_amount", "platform fee"),
  ...amount("net_amount", "as in the API", `(${netAmount})::bigint`),
  ...text("reference", "order number", "t.order_reference"),
  ...text("description", "as given"),
  ...text("customer_email", "the buyer's"),
  ...text("session_id", "`cs_…`"),
  ...text("connector", "processor"),
  ...text("connector_account_id", "`mco_…`"),
  ...text("connector_ref", "the processor's id"),
  ...text("capture_method", "`automatic` or `manual`"),
  ...text("payment_method", "type", "t.method ->> 'type'"),
  ...text("wallet", "around the card", "t.method ->> 'wallet'"),
  ...text("card_brand", "of the card"),
  ...text("card_last4", "last digits"),
  ...text("card_funding", "`credit`, `debit`, …"),
  ...time("authorized_at", "authorization"),
  ...time("captured_at", "capture"),
  ...time("failed_at", "failure"),
];

const refunds = [
  ...text("id", "`re_…`"),
  ...text("payment_id", "`pay_…`"),
  ...time("created_at", "creation"),
  ...text("status", "when written"),
  ...currency,
  ...amount("amount", "refunded"),
  ...text("reason", "as given"),
  ...text("connector", "processor"),
  ...text("connector_ref", "the processor's id"),
  ...text("failure_code", "the processor's"),
  ...text("failure_message", "the processor's"),
  ...ofPayment,
];

const disputes = [
  ...text("id", "`dp_…`"),
  ...text("payment_id", "`pay_…`"),
  ...time("opened_at", "opening"),
  ...time("evidence_due_at", "deadline"),
  ...text("status", "when written"),
  ...text("reason", "the processor's"),
  ...currency,
  ...amount("amount", "disputed"),
  ...text("acceptance", "empty: not conceded"),
  ...text("connector", "processor"),
  ...text("connector_dispute_id", "the processor's id", "t.connector_ref"),
  ...ofPayment,
];

const transactions = [
  ...text("id", "`txn_…`"),
  ...text("type", "kind of transaction"),
  ...text("connector_account_id", "`mco_…`"),
  ...amount("amount", "before the fee"),
  ...amount("fee", "the processor's"),
  ...amount("net", "amount − fee"),
  ...currency,
  ...amount("source_amount", "before conversion", "t.source_amount", "t.source_currency"),
  ...text("source_currency", "of source_amount"),
  ...text("payment_id", "`pay_…`"),
  ...text("refund_id", "`re_…`"),
  ...text("dispute_id", "`dp_…`"),
  ...text("payout_id", "`po_…`"),
  ...time("occurred_at", "the processor's value date"),
  ...time("posted_at", "recorded here"),
  ...time("available_at", "can be paid out"),
];

const payoutLines: readonly ReportColumn[] = [
  ...text("payout_id", "`po_…`", "po.id"),
  ...text("payout_ref", "the processor's id", "po.ref"),
  { name: "arrival_date", meaning: "expected at the bank", unit: "date", sql: "po.arrival_date::text" },
  ...amount("payout_amount", "of the payout", "po.amount", "po.currency"),
  ...text("payout_status", "when written", "po.status"),
  // The payout comes first.
  ...transactions.filter(({ name }) => name !== "payout_id"),
];

export const reportColumns: { readonly [T in ReportType]: readonly ReportColumn[] } = {
  payments,
  refunds,
  disputes,
  balance_transactions: transactions,
  payout_reconciliation: payoutLines,
};

/** The cell of a value of the database. A negative amount is a number and no formula. */
export function cellOf({ unit }: ReportColumn, value: string | number | null): string {
  if (value === null || unit === "text") return csvCell(String(value ?? ""));
  if (unit === "time") return new Date(value).toISOString();
  const [minor = "", code = ""] = unit === "major units" ? String(value).split(" ") : [];
  return code === "" ? String(value) : majorUnits(BigInt(minor), code);
}
