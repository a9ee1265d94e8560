// The buyer's receipt of a paid intent in the language of the payment: amount, card and refunds.
import { brandName } from "../rules/card-entry.ts";
import { formatAmount } from "../rules/currency-exponent.ts";
import type { Intent } from "../rules/intent.ts";
import { chooseLanguage, fillText } from "../texts/languages.ts";
import { methodNames } from "./method-choice.ts";
import { escapeHtml, type Page, renderPage, testBar } from "./page.ts";

/** @param acceptLanguage used if the buyer's language is unknown */
export function receiptPage(intent: Intent, acceptLanguage: string | undefined): Page {
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  const language = chooseLanguage([paidBy?.locale], acceptLanguage);
  const { texts, tag } = language;
  const amount = (minorUnits: number) => `<bdi>${escapeHtml(formatAmount(minorUnits, intent.currency, tag))}</bdi>`;
  const date = (time: string) => dateText(time, tag);
  const lines: [string, string][] = [
    [texts.paidOn, escapeHtml(date(intent.paid_at ?? intent.created_at))],
    [texts.reference, `<code>${escapeHtml(intent.reference)}</code>`],
  ];
  if (intent.description !== null)
    lines.unshift([texts.for, `<bdi class="is-text">${escapeHtml(intent.description)}</bdi>`]);
  if (paidBy) {
    const brand = paidBy.method === "card" ? brandName(paidBy.brand) : methodNames[paidBy.method];
    const ending = fillText(texts.cardEnding, { brand, last4: paidBy.last4 });
    lines.push([paidBy.method === "card" ? texts.card : texts.paidBy, escapeHtml(ending)]);
    lines.push([texts.authorization, `<code>${escapeHtml(paidBy.authorization_code ?? "")}</code>`]);
  }
  for (const refund of intent.refunds.filter(({ status }) => status === "succeeded" || status === "pending"))
    lines.push([fillText(texts.refund, { date: date(refund.created_at) }), `−${amount(refund.amount)}`]);
  if (intent.refunded_amount > 0)
    lines.push([texts.remaining, amount(intent.captured_amount - intent.refunded_amount)]);
  const bought = (intent.line_items ?? []).map(
    (line) =>
      `<li><span>${line.quantity > 1 ? `${line.quantity} × ` : ""}<bdi>${escapeHtml(line.name)}</bdi></span><span>${amount(line.amount)}</span></li>`,
  );
  const items = bought.length > 0 ? `<ul class="items">${bought.join("")}</ul>` : "";
  const rows = lines.map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${value}</dd></div>`);
  return renderPage({
    language,
    title: texts.receipt,
    styles: ["theme.css", "form.css"],
    scripts: [],
    framing: "none",
    body: `<body class="form-page">
${testBar(texts.testMode, texts.noMoneyMoved)}
<main id="card" class="receipt"><div class="result-icon is-succeeded" aria-hidden="true"></div>
<p class="muted">${texts.receipt}</p><h1>${amount(intent.captured_amount)}</h1>${items}<dl>${rows.join("")}</dl></main>
</body>`,
  });
}

/** In UTC, and labelled so, because the reader's time zone is unknown. */
function dateText(time: string, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(new Date(time))} UTC`;
}
