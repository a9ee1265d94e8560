// Balance, balance transactions and payouts as public JSON (docs/contract.md §5).
import { type Static, Type } from "typebox";
import { currencyExponent } from "#platform/values/money.ts";
import type { BalanceTransaction, GetBalanceResponse, Payout, TransactionSum } from "#proto/payments/v1/balance_pb.ts";
import {
  amountSchema,
  currencySchema,
  idSchema,
  jsonComponent,
  listValues,
  numberOf,
  textSchema,
  timeSchema,
} from "./field.ts";
import { presentMessage } from "./present.ts";

export const transactionTypes = [
  "capture",
  "refund",
  "refund_failure",
  "fee",
  "processor_fee",
  "dispute",
  "dispute_reversal",
  "dispute_fee",
  "adjustment",
  "payout",
  "payout_failure",
  "reserve",
  "release",
] as const;

export const payoutStatuses = ["pending", "in_transit", "paid", "failed", "returned"] as const;

export const BalanceJson = jsonComponent(
  "Balance",
  Type.Object({
    at: timeSchema("The time of the balance."),
    balances: Type.Array(
      Type.Object({
        currency: currencySchema,
        available: amountSchema("Can be paid out, minor units.", 84_150),
        pending: amountSchema("Becomes available later, minor units.", 12_000),
        reserved: amountSchema("Held in the processor's reserve, apart from the two above, minor units.", 0),
        fees_due: amountSchema("Platform fees that no processor has taken, minor units.", 310),
      }),
      { description: "One for each currency with transactions." },
    ),
  }),
);

export const BalanceTransactionJson = jsonComponent(
  "BalanceTransaction",
  Type.Object({
    id: idSchema("movement"),
    type: textSchema(listValues(transactionTypes), "capture"),
    connector: idSchema("connector", "The account at the processor, `mco_…`."),
    amount: amountSchema("Effect on the balance before the processor's fee, minor units; below zero: it left."),
    fee: amountSchema("The processor's fee, minor units; below zero: returned.", 40),
    net: amountSchema("`amount` − `fee`.", 1010),
    currency: currencySchema,
    source_amount: Type.Optional(amountSchema("Before the processor converted it, minor units of `source_currency`.")),
    source_currency: Type.Optional(currencySchema),
    exchange_rate: Type.Optional(
      textSchema("What the processor paid for one unit of `source_currency`, as a decimal number.", "0.9412"),
    ),
    payment_id: Type.Optional(idSchema("payment")),
    refund_id: Type.Optional(idSchema("refund")),
    dispute_id: Type.Optional(idSchema("dispute")),
    payout_id: Type.Optional(idSchema("payout", "The payout that contains it.")),
    occurred_at: timeSchema("The processor's value date."),
    posted_at: timeSchema("When it was recorded here."),
    available_at: timeSchema("When it can be paid out."),
  }),
);

export const TransactionSumJson = Type.Object({
  currency: currencySchema,
  amount: amountSchema("Sum of `amount`, minor units."),
  fee: amountSchema("Sum of `fee`, minor units.", 40),
  net: amountSchema("Sum of `net`, minor units.", 1010),
});

export const PayoutJson = jsonComponent(
  "Payout",
  Type.Object({
    id: idSchema("payout"),
    connector: idSchema("connector", "The account at the processor, `mco_…`."),
    connector_ref: textSchema("The payout's id at the processor.", "po_1Q2w3E"),
    amount: amountSchema("Minor units; below zero: the processor collects.", 84_150),
    currency: currencySchema,
    status: textSchema(listValues(payoutStatuses), "paid"),
    arrival_date: Type.String({
      format: "date",
      description: "When the bank should have it, YYYY-MM-DD.",
      examples: ["2025-11-24"],
    }),
    statement_descriptor: Type.Optional(textSchema("Its text on the bank's statement.", "TOLLBOOTH 1124")),
    failure_message: Type.Optional(textSchema("The processor's reason, if it failed or was returned.")),
    unattributed_amount: Type.Optional(
      amountSchema(
        "The part that no transaction explains, minor units; absent until the processor has listed the payout's transactions.",
        0,
      ),
    ),
    created_at: timeSchema("When the processor created it."),
  }),
);

export function presentBalance(answer: GetBalanceResponse): Static<typeof BalanceJson> {
  return presentMessage(BalanceJson, answer);
}

export function presentTransaction(one: BalanceTransaction | undefined): Static<typeof BalanceTransactionJson> {
  const isConverted = one !== undefined && one.sourceCurrency !== "";
  return presentMessage(BalanceTransactionJson, one, {
    connector: one?.connectorAccountId,
    source_amount: isConverted ? numberOf(one.sourceAmount) : undefined,
    exchange_rate: isConverted ? exchangeRate(one) : undefined,
  });
}

// Enough for any pair of currencies.
const rateDecimals = 10;
const exponentOf = (currency: string) => currencyExponent(currency) ?? 2;

/** In major units of both currencies. */
function exchangeRate({ amount, currency, sourceAmount, sourceCurrency }: BalanceTransaction): string | undefined {
  if (sourceAmount === 0n || sourceCurrency === "") return undefined;
  const shift = exponentOf(sourceCurrency) - exponentOf(currency);
  const scale = 10n ** BigInt(rateDecimals + Math.max(shift, 0));
  const scaled = (amount * scale) / (sourceAmount * 10n ** BigInt(Math.max(-shift, 0)));
  const digits = String(scaled).padStart(rateDecimals + 1, "0");
  const text = `${digits.slice(0, -rateDecimals)}.${digits.slice(-rateDecimals)}`;
  return text.replace(/\.?0+$/, "");
}

export function presentSum(sum: TransactionSum): Static<typeof TransactionSumJson> {
  return presentMessage(TransactionSumJson, sum);
}

export function presentPayout(payout: Payout | undefined): Static<typeof PayoutJson> {
  const rest = payout?.isReconciled ? numberOf(payout.unattributedAmount) : undefined;
  return presentMessage(PayoutJson, payout, { connector: payout?.connectorAccountId, unattributed_amount: rest });
}
