// payments.v1.BalanceService, in proto order.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import type { Database } from "#platform/database/database.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { readPage } from "#platform/lists/dated-list.ts";
import { requireFound } from "#platform/values/failure.ts";
import type { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import {
  findPayout,
  findTransaction,
  listPayoutItems,
  listTransactions,
  type PayoutItem,
  pendingDays,
  readBalance,
} from "../lists/balance.ts";
import { payoutRank } from "../rules/payout.ts";

export function balanceRpc({ db }: { readonly db: Database }): ServiceImpl<typeof BalanceService> {
  return {
    getBalance: async (request) => {
      const { at, balances } = await readBalance(db, request, request.at && timestampDate(request.at));
      const days = request.at ? [] : await pendingDays(db, request);
      return { balances, at: timestampFromDate(at), pendingDays: days };
    },
    listBalanceTransactions: async (request) => {
      const filters = { ...request, ...timesOf(request) };
      let sums: Awaited<ReturnType<typeof listTransactions>>["sums"] = [];
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(db, "movements", request, id, "occurred_at"),
        async (window) => {
          const page = await listTransactions(db, request, filters, window);
          sums = page.sums;
          return page;
        },
      );
      return { transactions: rows.map(messageFields), total, sums, hasMore };
    },
    getBalanceTransaction: async (request) => {
      const found = requireFound(await findTransaction(db, request, request.id));
      return { transaction: messageFields(found) };
    },
    listPayouts: async (request) => {
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(db, "payouts", request, id),
        (window) => listPayoutItems(db, request, { ...request, ...timesOf(request) }, window),
      );
      return { payouts: rows.map(toPayout), total, hasMore };
    },
    getPayout: async (request) => {
      const found = requireFound(await findPayout(db, request, request.id));
      return { payout: toPayout(found) };
    },
  };
}

type Timestamps = Pick<Parameters<ServiceImpl<typeof BalanceService>["listPayouts"]>[0], "from" | "to">;

function timesOf({ from, to }: Timestamps) {
  return { from: from && timestampDate(from), to: to && timestampDate(to) };
}

function toPayout(item: PayoutItem) {
  const version = BigInt(payoutRank[item.status]);
  return { ...messageFields(item), version, isReconciled: item.reconciledAt !== undefined };
}
