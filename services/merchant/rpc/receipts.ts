// merchant.v1.ReceiptService.
import type { ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../context.ts";
import { queuePaymentLink, queueReceipt } from "../flows/queue-buyer-mail.ts";

export function receiptsRpc(context: MerchantContext): ServiceImpl<typeof ReceiptService> {
  return {
    queueReceipt: async (request) => ({ queued: await queueReceipt(context, request) }),
    queuePaymentLink: async (request) => ({ outcome: await queuePaymentLink(context, request) }),
  };
}
