// payments.v1.BuyerDataService, in proto order.
import type { ServiceImpl } from "@connectrpc/connect";
import type { BuyerDataService } from "#proto/payments/v1/privacy_pb.ts";
import { type ErasureDeps, eraseBuyerData } from "../flows/erase-payments.ts";
import { findBuyerPayments } from "../store/erasure.ts";

// proto/payments/v1/privacy.proto
const paymentsMax = 1_000;

export function buyerDataRpc(deps: ErasureDeps): ServiceImpl<typeof BuyerDataService> {
  return {
    findBuyerPayments: async (request) => {
      const { customerEmail, paymentIds } = request;
      const found = await findBuyerPayments(deps.db, request, customerEmail, paymentIds, paymentsMax + 1);
      const shown = found.slice(0, paymentsMax);
      return {
        paymentIds: shown.map(({ id }) => id),
        disputedIds: shown.flatMap(({ id, disputed }) => (disputed ? [id] : [])),
        hasMore: found.length > paymentsMax,
      };
    },
    erasePayments: async (request) => await eraseBuyerData(deps, request, request.paymentIds),
  };
}
