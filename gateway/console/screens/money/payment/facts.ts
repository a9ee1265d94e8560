// The facts of a payment: money, order, processor, card and its checks. Texts of other parties stay text; an address of
// theirs becomes a link only with https.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { cardText, stateOf, translateCode } from "../../../texts/labels.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { chip, renderCopyable } from "../../../view/pieces.ts";
import { facts, metadataList } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";
import { mayCapture } from "./open-actions.ts";

/** An authorization is not paid yet, although its status is `succeeded`. */
export function paymentChip(language: Language, payment: Payment | ListedPayment): Html {
  if (mayCapture(payment)) return chip(textsOf(language).payment.authorized, "wait");
  const { text, tone } = stateOf(language, "paymentStates", payment.status);
  return chip(text, tone);
}

export function paymentFacts({ base, language, environment }: MerchantVisit, payment: Payment): Html {
  const texts = textsOf(language).payment;
  const { amount, capturedAmount, refundedAmount, feeAmount, netAmount, currency, sessionId } = payment;
  const some = (value: bigint) => (value === 0n ? "" : money(language, value, currency));
  return facts([
    [texts.amount, money(language, amount, currency)],
    [texts.captured, capturedAmount === amount ? "" : some(capturedAmount)],
    [texts.refunded, some(refundedAmount)],
    [texts.fee, some(feeAmount)],
    [texts.net, some(netAmount)],
    [texts.created, moment(language, payment.createdAt)],
    [texts.captureBefore, moment(language, payment.captureBefore)],
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

export function cardFacts({ language }: MerchantVisit, { card, verification }: Payment): Html | string {
  if (!card && !verification) return "";
  const texts = textsOf(language).payment;
  const { riskLevel = "", riskScore = 0 } = verification ?? {};
  const expiry = card?.expMonth ? `${String(card.expMonth).padStart(2, "0")}/${card.expYear}` : "";
  return html`<section class="panel"><h2>${texts.card}</h2>${facts([
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
