// Balance, balance transactions and payouts (docs/contract.md §5).
import { Type } from "typebox";
import {
  BalanceJson,
  BalanceTransactionJson,
  PayoutJson,
  payoutStatuses,
  presentBalance,
  presentPayout,
  presentSum,
  presentTransaction,
  TransactionSumJson,
  transactionTypes,
} from "../../services/public-json/balance.ts";
import { currencySchema, enumSchema, idSchema } from "../../services/public-json/field.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { dayOrMoment } from "../http/own-formats.ts";
import { pageOf, pageQueryOf, pageSchema, windowOf } from "../json/parts/list.ts";
import { dayOrMomentOf, timeBoundQuery, timeBounds } from "../json/parts/time-bound.ts";
import type { Peers } from "../peers.ts";

const tag = "Balance";
const currency = Type.Optional(Type.String({ ...currencySchema, pattern: "^[A-Z]{3}$" }));

const transactionQuery = Type.Object({
  ...pageQueryOf("movement"),
  type: Type.Optional(enumSchema(transactionTypes, "Exact match.")),
  currency,
  payment_id: Type.Optional(idSchema("payment", "Only transactions of this payment.")),
  refund_id: Type.Optional(idSchema("refund", "Only transactions of this refund.")),
  dispute_id: Type.Optional(idSchema("dispute", "Only transactions of this dispute.")),
  payout_id: Type.Optional(idSchema("payout", "Only transactions in this payout.")),
  ...timeBoundQuery,
});

const payoutQuery = Type.Object({
  ...pageQueryOf("payout"),
  status: Type.Optional(enumSchema(payoutStatuses, "Exact match.")),
  currency,
  ...timeBoundQuery,
});

const TransactionPage = Type.Object({
  ...pageSchema(BalanceTransactionJson).properties,
  sum: Type.Array(TransactionSumJson, { description: "Of all that match the filters, by currency." }),
});

type Balances = Pick<Peers, "balance">;

export function balanceRoutes(context: GatewayContext, { balance }: Balances): void {
  merchantRoute(context, {
    id: "getBalance",
    method: "GET",
    path: "/v1/balance",
    scope: "payments:read",
    tag,
    summary: "Read the balance",
    description:
      "Your money at the processors by currency, now or `at` an earlier time. The `net` amounts of all balance transactions sum to `available` + `pending` − `fees_due`.",
    query: Type.Object({
      at: Type.Optional(
        Type.String({
          format: dayOrMoment,
          maxLength: 40,
          description: "RFC 3339 or YYYY-MM-DD (the day's first moment, UTC); default: now.",
          examples: ["2025-11-30T23:59:59Z"],
        }),
      ),
    }),
    response: BalanceJson,
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const at = query.at === undefined ? {} : { at: dayOrMomentOf("at", query.at) };
      return presentBalance(await balance.getBalance({ merchantId, environment, ...at }));
    },
  });
  transactionRoutes(context, balance);
  payoutRoutes(context, balance);
}

function transactionRoutes(context: GatewayContext, balance: Peers["balance"]): void {
  merchantRoute(context, {
    id: "listBalanceTransactions",
    method: "GET",
    path: "/v1/balance-transactions",
    scope: "payments:read",
    tag,
    summary: "List balance transactions",
    description:
      "By `occurred_at`, newest first. `total` and `sum` are exact for the filters. The transactions of a payout sum to its amount: filter by `payout_id`.",
    query: transactionQuery,
    response: TransactionPage,
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const answer = await balance.listBalanceTransactions({
        ...{ merchantId, environment, type: query.type ?? "", currency: query.currency ?? "" },
        ...{ paymentId: query.payment_id ?? "", refundId: query.refund_id ?? "" },
        ...{ disputeId: query.dispute_id ?? "", payoutId: query.payout_id ?? "" },
        ...timeBounds(query),
        ...windowOf(query),
      });
      const page = pageOf(answer.transactions.map(presentTransaction), query, answer);
      return { ...page, sum: answer.sums.map(presentSum) };
    },
  });
  merchantRoute(context, {
    id: "getBalanceTransaction",
    method: "GET",
    path: "/v1/balance-transactions/:id",
    scope: "payments:read",
    tag,
    summary: "Read a balance transaction",
    description: "With the amount before a conversion by the processor.",
    params: Type.Object({ id: idSchema("movement", "Id of the transaction.") }),
    response: BalanceTransactionJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params: { id } }) => {
      const { transaction } = await balance.getBalanceTransaction({ merchantId, environment, id });
      return presentTransaction(transaction);
    },
  });
}

function payoutRoutes(context: GatewayContext, balance: Peers["balance"]): void {
  merchantRoute(context, {
    id: "listPayouts",
    method: "GET",
    path: "/v1/payouts",
    scope: "payments:read",
    tag,
    summary: "List payouts",
    description: "The processors' payments to your bank, newest first. `total` is exact for the filters.",
    query: payoutQuery,
    response: pageSchema(PayoutJson),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const filters = { merchantId, environment, status: query.status ?? "", currency: query.currency ?? "" };
      const answer = await balance.listPayouts({ ...filters, ...timeBounds(query), ...windowOf(query) });
      return pageOf(answer.payouts.map(presentPayout), query, answer);
    },
  });
  merchantRoute(context, {
    id: "getPayout",
    method: "GET",
    path: "/v1/payouts/:id",
    scope: "payments:read",
    tag,
    summary: "Read a payout",
    description: "Its transactions are listed by `payout_id`.",
    params: Type.Object({ id: idSchema("payout", "Id of the payout.") }),
    response: PayoutJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params: { id } }) => {
      const { payout } = await balance.getPayout({ merchantId, environment, id });
      return presentPayout(payout);
    },
  });
}
