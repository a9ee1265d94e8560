// One payment with facts, timeline, actions, ledger entries and API response. Each part is loaded separately, so an
// outage hides one part only.
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { renderCopyable } from "../../../view/pieces.ts";
import { renderMissing, unlessAway } from "../../../view/section.ts";
import { money } from "../../../view/values.ts";
import { renderBooks, renderDeveloperDetails } from "./books.ts";
import { captureRoutes } from "./capture.ts";
import { cardFacts, paymentChip, paymentFacts } from "./facts.ts";
import { mayCancel, mayCapture, refundableAmount } from "./open-actions.ts";
import { refundRoutes } from "./refund.ts";
import { loadStory } from "./story.ts";
import { renderTimeline } from "./timeline.ts";

export function paymentRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments/:paymentId", "payments.read", (visit) => paymentPage(context, visit));
  refundRoutes(context);
  captureRoutes(context);
}

async function paymentPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, merchantId, environment, may } = visit;
  const paymentId = idParam(visit, "paymentId", "payment");
  const { payments } = context.peers;
  const owned = { merchantId, environment, paymentId };
  const texts = textsOf(language).payment;
  const [found, story, books] = await Promise.all([
    unlessAway(() => payments.getPayment(owned)),
    loadStory(context, visit, paymentId),
    may("books.read") ? unlessAway(() => payments.listPaymentEntries(owned)) : undefined,
  ]);
  const payment = found?.value.payment;
  const booksHtml = may("books.read") ? renderBooks(visit, books?.value.entries) : "";
  const title = payment
    ? fill(texts.title, { amount: money(language, payment.amount, payment.currency) })
    : texts.payment;
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${payment ? paymentChip(language, payment) : ""}</div>
<p>${renderCopyable(language, paymentId)}</p>
${payment ? failureAndActions(visit, payment) : renderMissing(language, texts.payment)}
<div class="halves">${payment ? html`<div class="screen"><div class="panel">${paymentFacts(visit, payment)}</div>${cardFacts(visit, payment)}</div>` : ""}${renderTimeline(visit, payment, story)}</div>
${booksHtml}${payment ? renderDeveloperDetails(context, visit, payment) : ""}`,
  };
}

function failureAndActions(visit: MerchantVisit, payment: Payment): Html {
  const { language } = visit;
  const texts = textsOf(language).payment;
  const { failure } = payment;
  const failureNotice = failure
    ? html`<div class="warning"><strong>${texts.failed}: ${translateCode(language, "failures", failure.code)}</strong><p>${fill(texts.processorMessage, { words: failure.message })}</p><p>${translateCode(language, "failures", failure.advice)}</p></div>`
    : "";
  return html`${failureNotice}${actions(visit, payment)}`;
}

/** Actions that the person may take now. */
function actions({ base, language, may }: MerchantVisit, payment: Payment): Html | string {
  const texts = textsOf(language).payment;
  const link = (path: string, label: string, kind: string) =>
    html`<a class="button ${kind}" href="${base}/payments/${payment.id}/${path}">${label}</a>`;
  const shown = [
    ...(may("payments.capture") && mayCapture(payment) ? [link("capture", texts.capture, "")] : []),
    ...(may("payments.refund") && refundableAmount(payment) > 0n ? [link("refund", texts.refund, "secondary")] : []),
    ...(may("payments.cancel") && mayCancel(payment) ? [link("cancel", texts.cancel, "danger")] : []),
    ...(payment.dispute
      ? [html`<a class="button secondary" href="${base}/disputes/${payment.dispute.id}">${texts.disputeOpen}</a>`]
      : []),
  ];
  return shown.length === 0 ? "" : html`<div class="actions">${shown}</div>`;
}
