// Emails a payment link to a customer, once for each form that a person sends.

import { buyerEmail } from "#platform/values/email.ts";
import { asFailure } from "#platform/values/failure.ts";
import type { PaymentLink } from "#proto/checkout/v1/links_pb.ts";
import { QueuePaymentLinkResponse_Outcome } from "#proto/merchant/v1/receipts_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import { merchantForm } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hiddenField, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";

const about = "link-mail";

export function mailRoutes(context: ConsoleContext): void {
  merchantForm(context, "/links/:linkId/mail", { action: "links.write" }, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const linkId = idParam(visit, "linkId", "paymentLink");
    const go = `${base}/links/${linkId}`;
    const email = buyerEmail(form.text("email"));
    if (!email) return { go, done: "link-mail-wrong" };
    const { link } = await context.peers.links.getPaymentLink({ merchantId, environment, linkId });
    const { key } = onceOf(form, [about, linkId], [email]);
    return { go, done: link ? await emailLink(context, visit, link, email, key) : "link-not-mailed" };
  });
}

export function emailLinkForm(visit: MerchantVisit, { id, customerEmail }: PaymentLink): Html | string {
  if (!visit.may("links.write")) return "";
  const texts = textsOf(visit.language).links;
  const form = postForm(visit, {
    action: `${visit.base}/links/${id}/mail`,
    fields: [
      hiddenField(onceField, freshKey(about, id)),
      textField({
        name: "email",
        label: texts.email,
        value: customerEmail,
        type: "email",
        maxlength: 254,
        required: true,
      }),
    ],
    button: texts.emailIt,
  });
  return html`<details class="more"><summary>${texts.emailIt}</summary>${form}</details>`;
}

/** @param requestKey a repeat with the same one sends nothing @returns the notice */
export async function emailLink(
  { peers, log }: ConsoleContext,
  { merchantId, environment, secret, request }: MerchantVisit,
  link: PaymentLink,
  email: string,
  requestKey: string,
): Promise<"link-mailed" | "link-mail-limit" | "link-not-mailed"> {
  const { id: sessionId, amountMin, amountMax, currency, description, locale, url, expiresAt } = link;
  if (url === "") return "link-not-mailed";
  const amount = amountMin === amountMax ? amountMin : 0n;
  const order = { sessionId, amount, currency, description, locale, reference: link.orderReference };
  const to = { email, url, requestKey, ...(expiresAt && { expiresAt }) };
  const input = { sessionSecret: secret, merchantId, environment, ...order, ...to };
  const answer = await peers.receipts.queuePaymentLink(input).catch((error: unknown) => {
    log.warn({ err: asFailure(error), request_id: request.call.requestId }, "payment link not emailed");
    return undefined;
  });
  if (answer?.outcome === QueuePaymentLinkResponse_Outcome.QUEUED) return "link-mailed";
  return answer?.outcome === QueuePaymentLinkResponse_Outcome.TOO_MANY ? "link-mail-limit" : "link-not-mailed";
}
