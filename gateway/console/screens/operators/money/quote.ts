// Calculates the fee of a payment. The address holds the question, so it can be shared.
import { asFailure } from "#platform/values/failure.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import type { ConsoleContext, OperatorVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden } from "../../../view/fields.ts";
import { renderDetails } from "../../../view/operator-forms.ts";
import { minorUnits, money } from "../../../view/values.ts";

/** @param merchant `mer_…`; without one there is no calculator */
export async function renderQuote(
  context: ConsoleContext,
  visit: OperatorVisit,
  merchant: string,
): Promise<Html | string> {
  if (merchant === "") return "";
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const query = queryOf(visit);
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 32);
  const typed = { currency: of("currency").toUpperCase(), connector: of("connector"), amount: of("amount") };
  const hasAmount = typed.amount !== "";
  const answer = hasAmount ? await quote(context, visit, merchant, typed) : "";
  const field = (name: "currency" | "connector" | "amount", id: string, label: string) =>
    html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" value="${typed[name]}" maxlength="32" autocomplete="off"></div>`;
  const form = html`<form method="get" action="/fees" class="grid">${hidden("merchant", merchant)}
${field("currency", "quote-currency", ownTexts.currency)}${field("connector", "quote-connector", texts.connector)}${field("amount", "quote-amount", ownTexts.amount)}
<button class="button secondary">${texts.quoteButton}</button></form>`;
  return renderDetails(texts.quote, html`${form}${answer}`, hasAmount);
}

async function quote(
  { peers }: ConsoleContext,
  { language }: OperatorVisit,
  merchantId: string,
  typed: { readonly currency: string; readonly connector: string; readonly amount: string },
): Promise<Html> {
  const texts = textsOf(language).rules;
  const { currency, connector } = typed;
  const amount = minorUnits(typed.amount, currency);
  if (amount === undefined || amount < 1n || connector === "")
    return html`<p class="problem" role="alert">${texts.quoteNeeds}</p>`;
  try {
    const { feeAmount, schedule } = await peers.fees.quoteFee({ merchantId, currency, connector, amount });
    const { key } = schedule ?? {};
    const by = key
      ? html` <span class="muted">${texts.bySchedule} <code>${key.merchantId}/${key.currency}/${key.connector}</code></span>`
      : "";
    return html`<p role="status"><strong>${fill(texts.quoteAnswer, { fee: money(language, feeAmount, currency) })}</strong>${by}</p>`;
  } catch (error) {
    const { reason } = asFailure(error);
    if (reason === "NOT_FOUND") return html`<p role="status">${texts.quoteNone}</p>`;
    if (reason === "INVALID_BODY") return html`<p class="problem" role="alert">${texts.quoteNeeds}</p>`;
    throw error;
  }
}
