// The buyer's receipt of a paid intent: what was paid, with which card, and what was given back since.
import { brandName } from "../rules/card-entry.ts";
import { formatAmount } from "../rules/currency-exponent.ts";
import type { Intent } from "../rules/intent.ts";
import { escapeHtml, type Page, renderPage } from "./page.ts";

export function receiptPage(intent: Intent): Page {
  const amount = (minorUnits: number) => escapeHtml(formatAmount(minorUnits, intent.currency, "en"));
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  const lines: [string, string][] = [
    ["Paid on", escapeHtml(dateText(intent.paid_at ?? intent.created_at))],
    ["Reference", `<code>${escapeHtml(intent.reference)}</code>`],
  ];
  if (intent.description !== null) lines.unshift(["For", escapeHtml(intent.description)]);
  if (paidBy) {
    lines.push(["Card", escapeHtml(`${brandName(paidBy.brand)} ending in ${paidBy.last4}`)]);
    lines.push(["Authorization", `<code>${escapeHtml(paidBy.authorization_code ?? "")}</code>`]);
  }
  for (const refund of intent.refunds.filter(({ status }) => status === "succeeded" || status === "pending"))
    lines.push([`Refund, ${escapeHtml(dateText(refund.created_at))}`, `−${amount(refund.amount)}`]);
  if (intent.refunded_amount > 0) lines.push(["Remaining", amount(intent.captured_amount - intent.refunded_amount)]);
  const bought = (intent.line_items ?? []).map(
    (line) =>
      `<li><span>${line.quantity > 1 ? `${line.quantity} × ` : ""}${escapeHtml(line.name)}</span><span>${amount(line.amount)}</span></li>`,
  );
  const items = bought.length > 0 ? `<ul class="items">${bought.join("")}</ul>` : "";
  const rows = lines.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return renderPage({
    title: "Receipt",
    styles: ["theme.css", "form.css"],
    scripts: [],
    framing: "nobody",
    body: `<body class="form-page">
<p class="test-bar">Test mode<span> – no money moved</span></p>
<main id="card" class="receipt"><div class="result-icon is-succeeded" aria-hidden="true"></div>
<p class="muted">Receipt</p><h1>${amount(intent.captured_amount)}</h1>${items}<dl>${rows.join("")}</dl></main>
</body>`,
  });
}

function dateText(time: string): string {
  const format = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(new Date(time))} UTC`;
}
