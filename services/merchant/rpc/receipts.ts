// merchant.v1.ReceiptService: its one method.
import type { ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../context.ts";
import { queueReceipt } from "../flows/buyers/queue-receipt.ts";

export function receiptsRpc(context: MerchantContext): ServiceImpl<typeof ReceiptService> {
  return {
    queueReceipt: async (request) => {
      await queueReceipt(context, request);
      return {};
    },
  };
}
