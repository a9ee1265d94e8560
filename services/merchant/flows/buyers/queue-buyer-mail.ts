// Queues a mail to a buyer. Its address is proved by nobody, so a merchant may send so many an hour; few in the
// sandbox, where no payment costs anything. The caller holds the merchant's lock, so the count is exact.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { type NewMail, queueMail } from "../../mail/queue-mail.ts";
import { countBuyerMails } from "../../store/mails.ts";

/** Of each kind; also what a team sees of its own tests within an hour. */
export const sandboxMailsMax = 20;
/** A shop's day, and no use for spam to thousands. */
export const linkMailsMax = 100;
/** Of receipts in live, where RECEIPTS_PER_HOUR says nothing else: five payments a second. */
export const receiptsPerHourDefault = 20_000;

const kindsCounted = {
  payment_link: ["payment_link"],
  receipt: ["receipt", "refund_receipt"],
  refund_receipt: ["receipt", "refund_receipt"],
} as const;

export interface BuyerMail extends NewMail {
  readonly kind: keyof typeof kindsCounted;
  readonly merchantId: string;
  readonly onceKey: string;
}

/** @returns false: the merchant has queued as many within an hour as it may, and this one is not sent */
export async function queueBuyerMail(
  context: Pick<MerchantContext, "vault" | "canMail" | "log" | "metrics" | "receiptsPerHour">,
  tx: MappedTx,
  environment: Environment,
  mail: BuyerMail,
): Promise<boolean> {
  const { merchantId, kind, onceKey } = mail;
  const isSandbox = environment === Environment.SANDBOX;
  const max = isSandbox ? sandboxMailsMax : kind === "payment_link" ? linkMailsMax : context.receiptsPerHour;
  const of = { merchantId, environment: isSandbox ? "sandbox" : "live", kinds: kindsCounted[kind] } as const;
  if ((await countBuyerMails(tx, of, onceKey, max)) >= max) {
    context.metrics.mailsEnded.inc({ outcome: "over_limit" });
    context.log.warn({ merchant_id: merchantId, environment: of.environment, kind, max }, "mail dropped: hourly limit");
    return false;
  }
  await queueMail(context, tx, { ...mail, environment: of.environment });
  return true;
}
