// Creates a payment link. The answer to the form shows it once: an address with the link would end up in logs and in
// the browser's history. Sending the form again returns the same link.
import { asFailure } from "#platform/values/failure.ts";
import type { CreateSessionResponse } from "#proto/checkout/v1/checkout_pb.ts";
import { QueuePaymentLinkResponse_Outcome } from "#proto/merchant/v1/receipts_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { languages } from "../../../../web/languages.ts";
import type { Form } from "../../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { qrCode, renderCopyable } from "../../../view/pieces.ts";
import { unlessAway } from "../../../view/section.ts";
import { factList } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { lineCount, linkForm, readLink, type TypedLink, typedLink } from "./link-form.ts";

const action = "links.write";
const about = "link";
const locales = [...languages.keys()];

/** `keepsKey`: the outcome is open or unknown, so a retry uses the same key. */
const refusals = {
  PAYMENT_BLOCKED: { text: "blocked", keepsKey: false },
  NO_CONNECTOR: { text: "noConnector", keepsKey: false },
  FORBIDDEN: { text: "forbidden", keepsKey: false },
  INVALID_BODY: { text: "refused", keepsKey: false },
  IDEMPOTENCY_KEY_REUSE: { text: "changed", keepsKey: false },
  IDEMPOTENCY_CONFLICT: { text: "unknown", keepsKey: true },
  CONNECTOR_ERROR: { text: "processorUnavailable", keepsKey: true },
  SERVICE_UNAVAILABLE: { text: "unknown", keepsKey: true },
} as const;

export function createRoutes(context: ConsoleContext): void {
  merchantPage(context, "/links/new", action, async (visit) => {
    const typed = { ...emptyLink, currency: await currencyOf(context, visit) };
    return formPage(visit, typed, freshKey(about, visit.merchantId), []);
  });
  merchantForm(context, "/links/new", { action }, (visit, form) => create(context, visit, form));
}

const emptyLink: TypedLink = {
  ...{ amount: "", currency: "", reference: "", description: "", email: "", expires: "86400", locale: "" },
  mail: "",
  capture: "automatic",
  lines: Array.from({ length: lineCount }, () => ({ name: "", quantity: "1", amount: "" })),
};

/** The merchant's currency; empty during an outage. */
async function currencyOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<string> {
  const found = await unlessAway(() => peers.merchants.getMerchant({ merchantId, environment }));
  return found?.value.merchant?.currency ?? "";
}

async function create(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, language } = visit;
  const typed = typedLink(form);
  const read = readLink(typed, language, locales);
  if (!("order" in read)) return formPage(visit, typed, form.raw(onceField), read.problems);
  const idempotency = onceOf(form, [about, merchantId], [read.order]);
  let created: CreateSessionResponse;
  try {
    created = await context.peers.checkout.createSession({ merchantId, environment, ...read.order, idempotency });
  } catch (error) {
    const refusal = new Map(Object.entries(refusals)).get(asFailure(error).reason);
    if (!refusal) throw error;
    const key = refusal.keepsKey ? idempotency.key : freshKey(about, merchantId);
    return formPage(visit, typed, key, [["amount", textsOf(language).links[refusal.text]]]);
  }
  return createdPage(visit, created, typed.mail === "" ? undefined : await emailLink(context, visit, created));
}

/** Emails the link once, also if the form is sent again. @returns a notice with the outcome */
async function emailLink(
  { peers, log }: ConsoleContext,
  { merchantId, environment, secret, language, request }: MerchantVisit,
  { session, checkoutUrl }: CreateSessionResponse,
): Promise<Html> {
  const texts = textsOf(language).links;
  if (!session || checkoutUrl === "") return html``;
  const { amount, currency, description, locale, expiresAt, customerEmail: email } = session;
  const order = { sessionId: session.id, amount, currency, description, locale, reference: session.orderReference };
  const to = { email, url: checkoutUrl, ...(expiresAt && { expiresAt }) };
  const input = { sessionSecret: secret, merchantId, environment, ...order, ...to };
  const answer = await peers.receipts.queuePaymentLink(input).catch((error: unknown) => {
    log.warn({ err: error, request_id: request.call.requestId }, "payment link not emailed");
    return undefined;
  });
  const outcome = answer?.outcome;
  if (outcome === QueuePaymentLinkResponse_Outcome.QUEUED)
    return html`<p class="notice" role="status">${fillText(texts.sentTo, { email })}</p>`;
  const text = outcome === QueuePaymentLinkResponse_Outcome.TOO_MANY ? texts.sentTooMany : texts.notSent;
  return html`<p class="warning" role="alert">${text}</p>`;
}

function formPage(visit: MerchantVisit, typed: TypedLink, key: string, problems: Problems): Page {
  const texts = textsOf(visit.language).links;
  const names = new Intl.DisplayNames(visit.language, { type: "language" });
  const named = locales.map((tag) => [tag, names.of(tag) ?? tag] as const);
  return {
    title: texts.newTitle,
    status: problems.length > 0 ? 422 : 200,
    body: html`<div class="panel form-panel"><h1>${texts.newTitle}</h1>${linkForm(visit, typed, key, problems, named)}</div>`,
  };
}

function createdPage(
  { language, base }: MerchantVisit,
  { session, checkoutUrl }: CreateSessionResponse,
  notice: Html = html``,
): Page {
  const texts = textsOf(language).links;
  const { id = "", amount = 0n, currency = "EUR", orderReference = "" } = session ?? {};
  return {
    title: texts.createdTitle,
    body: html`<div class="panel form-panel"><h1>${texts.createdTitle}</h1>${notice}${
      checkoutUrl === ""
        ? html`<p class="warning">${texts.noOrigin}</p>`
        : html`<p>${texts.createdText}</p><p class="made-link">${renderCopyable(language, checkoutUrl)}</p>
${qrCode(texts.qr, checkoutUrl)}`
    }${factList([
      [texts.amount, moneyText(language, amount, currency)],
      [texts.reference, orderReference],
      [texts.expiresAt, dateTimeText(language, session?.expiresAt)],
    ])}
<div class="actions"><a class="button secondary" href="${base}/links/${id}">${texts.view}</a><a href="${base}/links/new">${texts.another}</a></div></div>`,
  };
}
