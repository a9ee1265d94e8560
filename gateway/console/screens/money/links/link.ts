// One payment link or checkout. An open one can be ended.
import { Failure } from "#platform/values/failure.ts";
import type { Session } from "#proto/checkout/v1/checkout_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fill, type Language, textsOf } from "../../../texts/texts.ts";
import { postForm } from "../../../view/forms.ts";
import { chip, renderCopyable } from "../../../view/pieces.ts";
import { facts, metadataList, table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";

export function linkRoutes(context: ConsoleContext): void {
  const { checkout } = context.peers;
  merchantPage(context, "/links/:sessionId", "payments.read", async (visit) => {
    const { merchantId, environment } = visit;
    const sessionId = idParam(visit, "sessionId", "session");
    const { session } = await checkout.getSession({ merchantId, environment, sessionId });
    if (!session) throw new Failure("NOT_FOUND");
    return linkPage(visit, session);
  });
  merchantForm(context, "/links/:sessionId/end", { action: "links.write" }, async (visit) => {
    const { merchantId, environment, base } = visit;
    const sessionId = idParam(visit, "sessionId", "session");
    const { session } = await checkout.expireSession({ merchantId, environment, sessionId });
    const ended = session?.status === "expired" || session?.status === "canceled";
    return { go: `${base}/links/${sessionId}`, done: ended ? "link-ended" : "link-paid" };
  });
}

/** The state as a chip. An authorization is not paid yet. */
export function sessionState(language: Language, session: Session): Html {
  const { status, paymentStatus, capturedAmount } = session;
  const isAuthorized = status === "completed" && paymentStatus === "succeeded" && capturedAmount === 0n;
  if (isAuthorized) return chip(textsOf(language).payment.authorized, "wait");
  const { text, tone } = stateOf(language, "moneyStates", status);
  return chip(text, tone);
}

function linkPage(visit: MerchantVisit, session: Session): Page {
  const { language, base } = visit;
  const texts = textsOf(language).links;
  const title = fill(texts.linkOf, { amount: money(language, session.amount, session.currency) });
  const hasPayment = session.paymentId !== "" && !session.paymentHidden;
  const captured = session.capturedAmount ?? 0n;
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${sessionState(language, session)}</div>
<div class="panel">${facts([
      [texts.payment, hasPayment ? html`<a href="${base}/payments/${session.paymentId}">${texts.openPayment}</a>` : ""],
      [textsOf(language).payment.captured, captured === 0n ? "" : money(language, captured, session.currency)],
      [texts.reference, session.orderReference],
      [texts.description, session.description],
      [texts.email, session.customerEmail],
      [texts.created, moment(language, session.createdAt)],
      [texts.completed, moment(language, session.completedAt)],
      [texts.expiresAt, session.status === "open" ? moment(language, session.expiresAt) : ""],
      [texts.processor, translateCode(language, "processorNames", session.connector)],
      [texts.capture, session.captureMethod === "manual" ? texts.captureManual : texts.captureAutomatic],
      [texts.metadata, metadataList(session.metadata)],
      [texts.id, renderCopyable(language, session.id)],
    ])}</div>${items(visit, session)}${endForm(visit, session)}
<p><a href="${base}/links">${texts.back}</a></p>`,
  };
}

function items({ language }: MerchantVisit, { lineItems, currency }: Session): Html | string {
  if (lineItems.length === 0) return "";
  const texts = textsOf(language).links;
  return html`<h2>${texts.lineItems}</h2>${table({
    caption: texts.lineItems,
    rows: lineItems,
    empty: "",
    columns: [
      { heading: texts.itemName, cell: ({ name }) => name },
      { heading: texts.itemQuantity, isNumber: true, cell: ({ quantity }) => String(quantity) },
      { heading: texts.amount, isNumber: true, cell: ({ amount }) => money(language, amount, currency) },
    ],
  })}`;
}

function endForm(visit: MerchantVisit, { id, status }: Session): Html | string {
  if (status !== "open" || !visit.may("links.write")) return "";
  const texts = textsOf(visit.language).links;
  const form = postForm(visit, { action: `${visit.base}/links/${id}/end`, button: texts.endNow, tone: "danger" });
  return html`<details class="more"><summary>${texts.end}</summary><p>${texts.endText}</p>${form}</details>`;
}
