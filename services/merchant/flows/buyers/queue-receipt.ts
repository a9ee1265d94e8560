// Queues a buyer's receipt, in ONE transaction: whether the merchant wants it, and as whom it is drawn, is read with
// it. A merchant who was suspended since has its receipts sent all the same: they are the buyer's.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { clockNow } from "#platform/values/clock.ts";
import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { QueueReceiptRequest } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { shopOf } from "../../mail/brand.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { receiptMail } from "../../mail/receipt.ts";
import { readBranding } from "../../store/brandings.ts";

/** A receipt is of use also days later. */
const giveUpMs = 3 * 86_400_000;

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function queueReceipt(context: MerchantContext, request: QueueReceiptRequest): Promise<void> {
  const { merchantId, environment, paymentId, refundId, email, at } = request;
  if (!isBuyerEmail(email) || !at) throw invalid("email", "must be an e-mail address");
  const isRefund = refundId !== "";
  const objectId = isRefund ? refundId : paymentId;
  const kind = isRefund ? "refund_receipt" : "receipt";
  await context.db.transaction(async (tx) => {
    const branding = await readBranding(tx, merchantId, environment);
    if (!branding) throw new Failure("NOT_FOUND");
    if (branding.emailReceipts !== "on") return;
    const { legalName } = branding;
    const shop = shopOf(branding, environment);
    await queueMail(context, tx, {
      to: email,
      kind,
      content: receiptMail({ ...request, ...shop.said, legalName, isRefund, at: timestampDate(at) }),
      ...shop.head,
      merchantId,
      objectId,
      onceKey: `${kind}:${objectId}`,
      giveUpAt: new Date(clockNow().getTime() + giveUpMs),
    });
  });
  context.mails.now();
}
