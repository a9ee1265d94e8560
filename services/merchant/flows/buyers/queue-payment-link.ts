// Queues the mail that asks a buyer to pay by a link, in ONE transaction: for a person who may make links at this
// merchant, once for each session, and so many an hour.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { isBuyerEmail } from "#platform/values/email.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import { type QueuePaymentLinkRequest, QueuePaymentLinkResponse_Outcome } from "#proto/merchant/v1/receipts_pb.ts";
import type { MerchantContext } from "../../context.ts";
import { shopOf } from "../../mail/brand.ts";
import { paymentLinkMail } from "../../mail/receipt.ts";
import { actionsOf } from "../../rules/people/roles.ts";
import { readBranding } from "../../store/brandings.ts";
import { lockMerchant } from "../../store/merchants.ts";
import { findMembership } from "../../store/people/memberships.ts";
import { findFullSession } from "../sign-in/session.ts";
import { queueBuyerMail } from "./queue-buyer-mail.ts";

const { QUEUED, NO_MAIL, TOO_MANY } = QueuePaymentLinkResponse_Outcome;

/** @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND, INVALID_BODY */
export async function queuePaymentLink(
  context: MerchantContext,
  request: QueuePaymentLinkRequest,
): Promise<QueuePaymentLinkResponse_Outcome> {
  const { merchantId, environment, sessionId, email, url, expiresAt } = request;
  const { person } = await findFullSession(context, request.sessionSecret, "merchants");
  if (!isBuyerEmail(email)) throw invalid("email", "must be an e-mail address");
  if (!isPayable(url) || !expiresAt) throw invalid("url", "must be an https address");
  if (!context.canMail) return NO_MAIL;
  const outcome = await context.db.transaction(async (tx) => {
    const membership = await findMembership(tx.em, person.id, merchantId);
    if (!membership) throw new Failure("NOT_FOUND");
    if (!actionsOf("merchants", membership.role).includes("links.write")) throw new Failure("FORBIDDEN");
    // Under it the count holds until the commit.
    await lockMerchant(tx.em, merchantId);
    const branding = await readBranding(tx, merchantId, environment);
    if (!branding) throw new Failure("NOT_FOUND");
    const { head, ...shop } = shopOf(branding, environment);
    const until = timestampDate(expiresAt);
    const isQueued = await queueBuyerMail(context, tx, environment, {
      to: email,
      kind: "payment_link",
      content: paymentLinkMail({ ...request, ...shop, expiresAt: until }),
      ...head,
      merchantId,
      objectId: sessionId,
      onceKey: `payment_link:${sessionId}`,
      giveUpAt: until,
    });
    return isQueued ? QUEUED : TOO_MANY;
  });
  context.mails.now();
  return outcome;
}

function isPayable(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(parsed.hostname);
  return parsed?.protocol === "https:" || isLocal;
}
