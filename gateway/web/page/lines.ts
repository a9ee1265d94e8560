// Renders the line items and their total.

import type { PageTexts } from "../languages.ts";
import type { SessionView } from "../sdk/contract.ts";
import { fillText, makeElement } from "./element.ts";

// More lines would push the fields below a phone's first screen.
const openMax = 4;

/** Undefined without line items. */
export function linesElement(
  { lineItems, amount }: SessionView,
  texts: PageTexts,
  locale: string,
): HTMLElement | undefined {
  if (!lineItems || !amount) return undefined;
  const count = new Intl.NumberFormat(locale);
  const rows = lineItems.map((line) => {
    const name = makeElement("span", { class: "line-name" }, makeElement("bdi", {}, line.name));
    if (line.quantity > 1)
      name.append(" ", makeElement("span", { class: "line-count" }, `× ${count.format(line.quantity)}`));
    return makeElement("li", {}, name, sumElement(line.amount.formatted));
  });
  const list = makeElement("ul", {}, ...rows);
  const label = fillText(texts.items, { count: count.format(rows.length) });
  const total = makeElement(
    "p",
    { class: "lines-total" },
    makeElement("span", {}, texts.total),
    sumElement(amount.formatted),
  );
  const folded = rows.length > openMax && makeElement("details", {}, makeElement("summary", {}, label), list);
  return makeElement("div", { class: "lines" }, folded || list, total);
}

function sumElement(formatted: string): HTMLElement {
  return makeElement("span", { class: "line-sum" }, formatted);
}
