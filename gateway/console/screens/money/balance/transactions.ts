// Tables of balance transactions, and their columns in a file.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { BalanceTransaction } from "#proto/payments/v1/balance_pb.ts";
import { type CsvCell, majorUnits } from "../../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../../html.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import type { Columns } from "../payments/csv.ts";

/** @param isPayout they are those of one payout, which each of them need not name */
export function transactionTable(
  visit: MerchantVisit,
  transactions: readonly BalanceTransaction[],
  isPayout = false,
): Html {
  const { language, base } = visit;
  const texts = textsOf(language).balance;
  const typeCell = ({ type, paymentId }: BalanceTransaction) => {
    const name = translateCode(language, "transactionTypes", type);
    return paymentId === "" ? name : html`<a href="${base}/payments/${paymentId}">${name}</a>`;
  };
  const availableCell = ({ payoutId, availableAt }: BalanceTransaction) =>
    payoutId === ""
      ? dateTimeText(language, availableAt)
      : html`<a href="${base}/payouts/${payoutId}">${texts.paidOut}</a>`;
  return htmlTable({
    caption: texts.transactions,
    rows: transactions,
    empty: texts.noTransactions,
    columns: [
      { heading: texts.type, cell: typeCell },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
      {
        heading: texts.fee,
        isNumber: true,
        cell: ({ fee, currency }) => (fee === 0n ? "" : moneyText(language, fee, currency)),
      },
      { heading: texts.net, isNumber: true, cell: ({ net, currency }) => moneyText(language, net, currency) },
      { heading: texts.occurred, cell: ({ occurredAt }) => dateTimeText(language, occurredAt) },
      ...(isPayout ? [] : [{ heading: texts.available, cell: availableCell }]),
    ],
  });
}

const timeText = (time: BalanceTransaction["occurredAt"]) => (time ? timestampDate(time).toISOString() : "");

const number = (amount: bigint, currency: string) => ({ number: majorUnits(amount, currency) });

export const transactionColumns: Columns<BalanceTransaction, CsvCell> = [
  ["id", ({ id }) => id],
  ["occurred_at", ({ occurredAt }) => timeText(occurredAt)],
  ["type", ({ type }) => type],
  ["amount", ({ amount, currency }) => number(amount, currency)],
  ["fee", ({ fee, currency }) => number(fee, currency)],
  ["net", ({ net, currency }) => number(net, currency)],
  ["currency", ({ currency }) => currency],
  ["payment_id", ({ paymentId }) => paymentId],
  ["refund_id", ({ refundId }) => refundId],
  ["dispute_id", ({ disputeId }) => disputeId],
  ["payout_id", ({ payoutId }) => payoutId],
  ["available_at", ({ availableAt }) => timeText(availableAt)],
];
