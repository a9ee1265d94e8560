// The page of a payment link: what is paid for, the amount or a field for it, and a button; or why it cannot be paid.
import { type Html, html } from "../../html.ts";
import type { ChosenLanguage, PageTexts } from "../languages.ts";
import { moneyText, type OrderLine, type ViewParts, viewMessage, viewPage } from "./parts.ts";

export interface ShownLink {
  readonly id: string;
  readonly currency: string;
  readonly amountMin: bigint;
  readonly amountMax: bigint;
  readonly description: string;
  readonly lineItems: readonly OrderLine[];
  readonly usesMax: number;
}

export interface LinkPageState {
  /** `unavailable`: its merchant cannot take payments. */
  readonly state: "active" | "closed" | "expired" | "sold_out" | "busy" | "unavailable";
  readonly typed: string;
  /** The typed amount is out of bounds, or none. */
  readonly isWrong: boolean;
}

export function linkPage(parts: ViewParts, link: ShownLink, { state, typed, isWrong }: LinkPageState): string {
  const { language, merchant } = parts;
  const { texts } = language;
  const isFixed = link.amountMin === link.amountMax;
  const title = texts.payTo.replace("{merchant}", () => merchant.name);
  if (state === "active") {
    const { description, currency, lineItems: lines } = link;
    const order = { amount: isFixed ? link.amountMin : undefined, currency, description, lines };
    const field = isFixed ? "" : amountField(language, link, typed, isWrong);
    const panel = html`<form method="post" action="/l/${link.id}" class="pay-view"><h1>${title}</h1>${field}
<button class="pay">${texts.continue}</button></form>`;
    return viewPage(parts, { title, order, panel, id: "link", isOrderFirst: true });
  }
  const isPaid = state === "sold_out" && link.usesMax === 1;
  const [heading, text] = isPaid ? [texts.alreadyTitle, texts.paidText] : textsOf(texts, state);
  const sign = isPaid ? "done" : state === "busy" ? "wait" : "attention";
  const retry = state === "busy" ? html`<a class="pay" href="/l/${link.id}">${texts.retry}</a>` : "";
  const filled = text.replace("{merchant}", () => merchant.name);
  const panel = viewMessage({ sign, title: heading, text: filled, actions: [retry] });
  return viewPage(parts, { title: heading, panel, id: "link" });
}

function textsOf(
  texts: PageTexts,
  state: Exclude<LinkPageState["state"], "active">,
): readonly [title: string, text: string] {
  switch (state) {
    case "closed":
      return [texts.closedTitle, texts.expiredText];
    case "expired":
      return [texts.expiredTitle, texts.expiredText];
    case "sold_out":
      return [texts.soldOutTitle, texts.soldOutText];
    case "busy":
      return [texts.busyTitle, texts.busyText];
    case "unavailable":
      return [texts.unavailableTitle, texts.unavailableText];
  }
}

function amountField(language: ChosenLanguage, link: ShownLink, typed: string, isWrong: boolean): Html {
  const { texts } = language;
  const { amountMin, amountMax, currency } = link;
  const range = texts.amountRange
    .replace("{min}", () => moneyText(language, amountMin, currency))
    .replace("{max}", () => moneyText(language, amountMax, currency));
  const hint = html`<p id="amount-hint" class="${isWrong ? "field-problem" : "secure"}"${isWrong ? html` role="alert"` : ""}>${range}</p>`;
  return html`<div class="email-field"><label for="amount">${texts.amount} (${currency})</label>
<input id="amount" name="amount" inputmode="decimal" autocomplete="off" maxlength="20" required dir="ltr" value="${typed}" aria-describedby="amount-hint"${isWrong ? html` aria-invalid="true" autofocus` : ""}>${hint}</div>`;
}
