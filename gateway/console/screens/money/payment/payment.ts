// One payment with facts, timeline, actions, ledger entries and API response. Each part is loaded separately, so an
// outage hides one part only.

import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { JournalEntry } from "#proto/payments/v1/journal_pb.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { presentPayment } from "../../../../../services/public-json/payment.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { cardText, methodText, translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { codeBlock, renderCopyable } from "../../../view/pieces.ts";
import { renderMissing, unlessAway } from "../../../view/section.ts";
import { factList, htmlTable, metadataList } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { eraseAction } from "../../settings/privacy.ts";
import { paymentChip } from "../payments/table.ts";
import { captureRoutes } from "./capture.ts";
import { loadNotes, noteRoutes } from "./notes.ts";
import { receiptForm, receiptRoutes } from "./receipt.ts";
import { refundRoutes } from "./refund.ts";
import { mayCancel, mayCapture, refundableAmount } from "./refusal.ts";
import { findRelated, renderPaidTwice, renderRelated } from "./related.ts";
import { loadStory, renderTimeline } from "./timeline.ts";

export function paymentRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments/:paymentId", "payments.read", (visit) => paymentPage(context, visit));
  refundRoutes(context);
  noteRoutes(context);
  receiptRoutes(context);
  captureRoutes(context);
}

async function paymentPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, merchantId, environment, may } = visit;
  const paymentId = idParam(visit, "paymentId", "payment");
  const { payments } = context.peers;
  const owned = { merchantId, environment, paymentId };
  const texts = textsOf(language).payment;
  const [found, story, notes, books] = await Promise.all([
    unlessAway(() => payments.getPayment(owned)),
    loadStory(context, visit, paymentId),
    loadNotes(context, visit, paymentId),
    may("books.read") ? unlessAway(() => payments.listPaymentEntries(owned)) : undefined,
  ]);
  const payment = found?.value.payment;
  const related = payment ? await findRelated(context, visit, payment) : undefined;
  const booksHtml = may("books.read") ? renderBooks(visit, books?.value.entries) : "";
  const title = payment
    ? fillText(texts.title, { amount: moneyText(language, payment.amount, payment.currency) })
    : texts.payment;
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${payment ? paymentChip(language, payment) : ""}</div>
<p>${renderCopyable(language, paymentId)}</p>
${payment && related ? renderPaidTwice(visit, payment, related) : ""}${payment ? failureAndActions(visit, payment) : renderMissing(language, texts.payment)}
<div class="halves">${payment ? html`<div class="screen"><div class="panel">${paymentFacts(visit, payment)}${payment.archived ? "" : html`${receiptForm(visit, payment)}${eraseLink(visit, payment)}`}</div>${cardFacts(visit, payment)}${notes}</div>` : notes}${renderTimeline(visit, payment, story)}</div>
${payment && related ? renderRelated(visit, payment, related) : ""}
${booksHtml}${payment ? renderDeveloperDetails(context, visit, payment) : ""}`,
  };
}

function failureAndActions(visit: MerchantVisit, payment: Payment): Html {
  const { language } = visit;
  const texts = textsOf(language).payment;
  const { failure } = payment;
  const failureNotice = failure
    ? html`<div class="warning"><strong>${texts.failed}: ${translateCode(language, "failures", failure.code)}</strong><p>${fillText(texts.processorMessage, { words: failure.message })}</p><p>${translateCode(language, "failures", failure.advice)}</p></div>`
    : "";
  const archived = payment.archived ? html`<p class="notice">${texts.archived}</p>` : "";
  return html`${archived}${failureNotice}${actions(visit, payment)}`;
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

function eraseLink({ base, language, may }: MerchantVisit, { id }: Payment): Html | string {
  if (!may(eraseAction)) return "";
  return html`<p><a href="${base}/privacy?payment=${id}">${textsOf(language).payment.eraseBuyer}</a></p>`;
}

/** @param entries undefined during an outage */
function renderBooks({ language }: MerchantVisit, entries: readonly JournalEntry[] | undefined): Html {
  const texts = textsOf(language).payment;
  if (!entries) return renderMissing(language, texts.books);
  return html`<section class="panel"><h2>${texts.books}</h2><p class="muted">${texts.booksText}</p>${htmlTable({
    caption: texts.books,
    rows: entries,
    empty: texts.noEntries,
    columns: [
      { heading: texts.what, cell: ({ kind }) => translateCode(language, "books", kind) },
      { heading: texts.debit, cell: ({ debit }) => translateCode(language, "books", debit) },
      { heading: texts.credit, cell: ({ credit }) => translateCode(language, "books", credit) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
      { heading: texts.when, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  })}</section>`;
}

function renderDeveloperDetails({ config }: ConsoleContext, { language }: MerchantVisit, payment: Payment): Html {
  const texts = textsOf(language).payment;
  const address = `${config.API_ORIGIN ?? "https://api.example.com"}/v1/payments/${payment.id}`;
  return html`<details class="more"><summary>${texts.developers}</summary>
<h2>${texts.curl}</h2>${codeBlock(language, `curl ${address} \\\n  -H "Authorization: Bearer $TOLLBOOTH_API_KEY"`)}
<h2>${texts.json}</h2>${codeBlock(language, JSON.stringify(presentPayment(payment), null, 2))}</details>`;
}

function paymentFacts({ base, language, environment }: MerchantVisit, payment: Payment): Html {
  const texts = textsOf(language).payment;
  const { amount, capturedAmount, refundedAmount, feeAmount, netAmount, currency, sessionId } = payment;
  const some = (value: bigint) => (value === 0n ? "" : moneyText(language, value, currency));
  return factList([
    [texts.amount, moneyText(language, amount, currency)],
    [texts.method, methodText(payment)],
    [texts.captured, capturedAmount === amount ? "" : some(capturedAmount)],
    [texts.refunded, some(refundedAmount)],
    [texts.fee, some(feeAmount)],
    [texts.net, some(netAmount)],
    [texts.created, dateTimeText(language, payment.createdAt)],
    [texts.captureBefore, dateTimeText(language, payment.captureBefore)],
    [texts.description, payment.description],
    [texts.reference, payment.orderReference],
    [texts.buyer, payment.customerEmail],
    [texts.session, sessionId === "" ? "" : html`<a href="${base}/links/${sessionId}"><code>${sessionId}</code></a>`],
    [texts.processor, translateCode(language, "processorNames", payment.connector)],
    [texts.processorRef, renderCopyable(language, payment.connectorRef)],
    [texts.authorizationCode, payment.authorizationCode],
    [texts.receipt, externalLink(payment.receiptUrl, environment, texts.openReceipt)],
    [texts.metadata, metadataList(payment.metadata)],
  ]);
}

function cardFacts({ language }: MerchantVisit, { card, verification }: Payment): Html | string {
  if (!card && !verification) return "";
  const texts = textsOf(language).payment;
  const { riskLevel = "", riskScore = 0 } = verification ?? {};
  const expiry = card?.expMonth ? `${String(card.expMonth).padStart(2, "0")}/${card.expYear}` : "";
  return html`<section class="panel"><h2>${texts.card}</h2>${factList([
    [
      texts.cardNumber,
      [cardText(card), translateCode(language, "fundings", card?.funding ?? "")].filter(Boolean).join(", "),
    ],
    [texts.expiry, expiry],
    [texts.fingerprint, renderCopyable(language, card?.fingerprint ?? "")],
    [texts.addressCheck, translateCode(language, "cardChecks", verification?.avsLine1 ?? "")],
    [texts.postcodeCheck, translateCode(language, "cardChecks", verification?.avsZip ?? "")],
    [texts.cvcCheck, translateCode(language, "cardChecks", verification?.cvcCheck ?? "")],
    [
      texts.threeDs,
      [translateCode(language, "cardChecks", verification?.threeDsResult ?? ""), verification?.threeDsVersion]
        .filter(Boolean)
        .join(" · "),
    ],
    [texts.risk, riskLevel === "" ? "" : `${translateCode(language, "cardChecks", riskLevel)} · ${riskScore}`],
  ])}</section>`;
}

/** A link to another party's address, if it is https or, in the sandbox, http on this machine. */
function externalLink(text: string, environment: Environment, label: string): Html | string {
  if (!URL.canParse(text)) return text;
  const { protocol, hostname } = new URL(text);
  const isLocal = protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname);
  if (protocol !== "https:" && !(isLocal && environment === Environment.SANDBOX)) return text;
  return html`<a href="${text}" rel="noreferrer noopener" target="_blank">${label}</a>`;
}
