// Queues receipts and payment requests to buyers, each in ONE transaction that holds the merchant's lock. Buyers'
// addresses are not verified, so a merchant's mails per hour are limited, with a low limit in the free sandbox.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { clockNow } from "#platform/values/clock.ts";
import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import {
  type QueuePaymentLinkRequest,
  QueuePaymentLinkResponse_Outcome,
  type QueueReceiptRequest,
} from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type NewMail, queueMail, shopOf } from "../mail/queue-mail.ts";
import { paymentLinkMail, receiptMail } from "../mail/receipt.ts";
import { actionsOf } from "../rules/people/roles.ts";
import { readBranding } from "../store/brandings.ts";
import { countBuyerMails, endRefundMails, refundMailKey, replaceRefundMail } from "../store/mails.ts";
import type { MappedTx } from "../store/mapped-database.ts";
import { lockMerchant } from "../store/merchants.ts";
import { findMembership } from "../store/people/memberships.ts";
import { findFullSession } from "./sign-in/session.ts";

/** Per kind; enough for a team's own tests. */
const sandboxMailsMax = 20;
/** Enough for a shop, and useless for spam. */
const linkMailsMax = 100;
/** Default of RECEIPTS_PER_HOUR: five payments per second. */
export const receiptsPerHourDefault = 20_000;
/** A receipt, and a link without an end, are still useful some days later. */
const giveUpMs = 3 * 86_400_000;

const { QUEUED, NO_MAIL, TOO_MANY } = QueuePaymentLinkResponse_Outcome;

/**
 * A suspended merchant's receipts are sent, too: they are for the buyer.
 * @returns false if the mail is neither queued nor was before
 * @throws Failure NOT_FOUND, INVALID_BODY.
 */
export async function queueReceipt(context: MerchantContext, request: QueueReceiptRequest): Promise<boolean> {
  const { merchantId, environment, paymentId, refundId, refundFailed, email, amount, at } = request;
  if (!isBuyerEmail(email) || !at) throw invalidField("email", "must be an e-mail address");
  const isRefund = refundId !== "";
  const kind = refundFailed ? "refund_failed" : isRefund ? "refund_receipt" : "receipt";
  const isQueued = await context.db.transaction(async (tx) => {
    await lockMerchant(tx.em, merchantId);
    const branding = requireFound(await readBranding(tx, merchantId, environment));
    if (!context.canMail || (branding.emailReceipts !== "on" && !request.isAsked)) return false;
    // Refunds of one payment within an hour share one mail: a later one contains the total.
    const ofRefund = () => (refundFailed ? endRefundMails(tx, paymentId) : replaceRefundMail(tx, paymentId, amount));
    const sendAt = isRefund ? await ofRefund() : null;
    if (sendAt === undefined) return true;
    const { head, ...shop } = shopOf(branding, environment);
    return await queueBuyerMail(context, tx, environment, {
      to: email,
      kind,
      content: receiptMail({ ...request, ...shop, isRefund, at: timestampDate(at) }),
      ...head,
      merchantId,
      objectId: paymentId,
      onceKey: onceKeyOf(request),
      ...(sendAt && { sendAt }),
      giveUpAt: new Date((sendAt ?? clockNow()).getTime() + giveUpMs),
    });
  });
  context.mails.now();
  return isQueued;
}

/**
 * Queues a payment request once per link and request key, for a person who may create payment links at this merchant.
 * @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND, INVALID_BODY
 */
export async function queuePaymentLink(
  context: MerchantContext,
  request: QueuePaymentLinkRequest,
): Promise<QueuePaymentLinkResponse_Outcome> {
  const { merchantId, environment, sessionId, email, url, expiresAt, requestKey } = request;
  const { person } = await findFullSession(context, request.sessionSecret, "merchants");
  if (!isBuyerEmail(email)) throw invalidField("email", "must be an e-mail address");
  if (!isPayable(url)) throw invalidField("url", "must be an https address");
  if (!context.canMail) return NO_MAIL;
  const outcome = await context.db.transaction(async (tx) => {
    const membership = requireFound(await findMembership(tx.em, person.id, merchantId));
    if (!actionsOf("merchants", membership.role).includes("links.write")) throw new Failure("FORBIDDEN");
    await lockMerchant(tx.em, merchantId);
    const branding = requireFound(await readBranding(tx, merchantId, environment));
    const { head, ...shop } = shopOf(branding, environment);
    const until = expiresAt && timestampDate(expiresAt);
    const isQueued = await queueBuyerMail(context, tx, environment, {
      to: email,
      kind: "payment_link",
      content: paymentLinkMail({ ...request, ...shop, expiresAt: until }),
      ...head,
      merchantId,
      objectId: sessionId,
      onceKey: ["payment_link", sessionId, ...(requestKey === "" ? [] : [requestKey])].join(":"),
      giveUpAt: until ?? new Date(clockNow().getTime() + giveUpMs),
    });
    return isQueued ? QUEUED : TOO_MANY;
  });
  context.mails.now();
  return outcome;
}

function onceKeyOf({ paymentId, refundId, refundFailed, amount, requestKey }: QueueReceiptRequest): string {
  if (refundFailed) return `refund_failed:${refundId}`;
  if (refundId !== "") return refundMailKey(paymentId, amount);
  return ["receipt", paymentId, ...(requestKey === "" ? [] : [requestKey])].join(":");
}

function isPayable(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(parsed.hostname);
  return parsed?.protocol === "https:" || isLocal;
}

const receiptKinds = ["receipt", "refund_receipt", "refund_failed"] as const;
/** The kinds that are counted together. */
const kindsCounted = {
  payment_link: ["payment_link"],
  receipt: receiptKinds,
  refund_receipt: receiptKinds,
  refund_failed: receiptKinds,
} as const;

interface BuyerMail extends NewMail {
  readonly kind: keyof typeof kindsCounted;
  readonly merchantId: string;
  readonly onceKey: string;
}

/** @returns false if the merchant has reached its hourly limit; the mail is then dropped */
async function queueBuyerMail(
  context: MerchantContext,
  tx: MappedTx,
  environment: Environment,
  mail: BuyerMail,
): Promise<boolean> {
  const { merchantId, kind, onceKey } = mail;
  const isSandbox = environment === Environment.SANDBOX;
  const max = isSandbox ? sandboxMailsMax : kind === "payment_link" ? linkMailsMax : context.receiptsPerHour;
  const counted = { merchantId, environment: isSandbox ? "sandbox" : "live", kinds: kindsCounted[kind] } as const;
  if ((await countBuyerMails(tx, counted, onceKey, max)) >= max) {
    context.metrics.mailsEnded.inc({ outcome: "over_limit" });
    context.log.warn(
      { merchant_id: merchantId, environment: counted.environment, kind, max },
      "mail dropped: hourly limit",
    );
    return false;
  }
  await queueMail(context, tx, { ...mail, environment: counted.environment });
  return true;
}
