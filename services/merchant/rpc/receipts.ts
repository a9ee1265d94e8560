// merchant.v1.ReceiptService: every method in its order; what stands behind each is in flows/buyers/.
import type { ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../context.ts";
import { queuePaymentLink } from "../flows/buyers/queue-payment-link.ts";
import { queueReceipt } from "../flows/buyers/queue-receipt.ts";

export function receiptsRpc(context: MerchantContext): ServiceImpl<typeof ReceiptService> {
  return {
    queueReceipt: async (request) => {
      await queueReceipt(context, request);
      return {};
    },
    queuePaymentLink: async (request) => ({ outcome: await queuePaymentLink(context, request) }),
  };
}
