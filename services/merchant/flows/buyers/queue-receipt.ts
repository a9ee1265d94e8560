// Queues a buyer's receipt, in ONE transaction: whether the merchant wants it, and as whom it is drawn, is read with
// it. A merchant who was suspended since has its receipts sent all the same: they are the buyer's.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { clockNow } from "#platform/values/clock.ts";
import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { QueueReceiptRequest } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { shopOf } from "../../mail/brand.ts";
import { receiptMail } from "../../mail/receipt.ts";
import { readBranding } from "../../store/brandings.ts";
import { refundMailKey, replaceRefundMail } from "../../store/mails.ts";
import { lockMerchant } from "../../store/merchants.ts";
import { queueBuyerMail } from "./queue-buyer-mail.ts";

/** A receipt is of use also days later. */
const giveUpMs = 3 * 86_400_000;

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function queueReceipt(context: MerchantContext, request: QueueReceiptRequest): Promise<void> {
  const { merchantId, environment, paymentId, refundId, email, amount, at } = request;
  if (!isBuyerEmail(email) || !at) throw invalid("email", "must be an e-mail address");
  const isRefund = refundId !== "";
  await context.db.transaction(async (tx) => {
    await lockMerchant(tx.em, merchantId);
    const branding = await readBranding(tx, merchantId, environment);
    if (!branding) throw new Failure("NOT_FOUND");
    if (branding.emailReceipts !== "on") return;
    // Refunds of one payment within an hour are one mail: the later one names the total of both.
    const sendAt = isRefund ? await replaceRefundMail(tx, paymentId, amount) : null;
    if (sendAt === undefined) return;
    const { head, ...shop } = shopOf(branding, environment);
    await queueBuyerMail(context, tx, environment, {
      to: email,
      kind: isRefund ? "refund_receipt" : "receipt",
      content: receiptMail({ ...request, ...shop, isRefund, at: timestampDate(at) }),
      ...head,
      merchantId,
      objectId: paymentId,
      onceKey: isRefund ? refundMailKey(paymentId, amount) : `receipt:${paymentId}`,
      ...(sendAt && { sendAt }),
      giveUpAt: new Date((sendAt ?? clockNow()).getTime() + giveUpMs),
    });
  });
  context.mails.now();
}
