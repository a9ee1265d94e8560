// Renders merchant and order, which are visible on every screen.
import type { PageTexts } from "../languages.ts";
import type { SessionView } from "../sdk/contract.ts";
import { fillText, makeElement } from "./element.ts";

const longAmount = 10; // characters in one line of the smallest phone

/** Reuses the server's header if it knew the merchant. */
export function merchantElement({ merchant, branding }: SessionView): HTMLElement {
  const { displayName } = merchant;
  const known = document.querySelector<HTMLElement>(".merchant[data-known]");
  const header = known ?? makeElement("header", { class: "merchant" });
  if (!known) {
    const image = branding.logoUrl && { class: "logo", alt: "", src: branding.logoUrl, referrerpolicy: "no-referrer" };
    const mark = image ? makeElement("img", image) : initial(displayName);
    const name = makeElement("p", { class: "merchant-name" }, displayName);
    const tagline = branding.tagline && makeElement("p", { class: "tagline" }, branding.tagline);
    header.append(
      makeElement("span", { class: image ? "mark mark-wide" : "mark" }, mark),
      makeElement("div", {}, name, tagline || undefined),
    );
  }
  replaceBrokenLogo(header, displayName);
  return header;
}

/** Shows the initial instead of a logo that does not load. */
export function replaceBrokenLogo(header: HTMLElement, name: string): void {
  const logo = header.querySelector("img");
  if (!logo) return;
  const replace = () => logo.replaceWith(initial(name));
  if (logo.complete && logo.naturalWidth === 0) replace();
  else logo.addEventListener("error", replace);
}

function initial(name: string): HTMLElement {
  return makeElement("span", { class: "initial", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "");
}

export function orderElement(session: SessionView, texts: PageTexts, locale: string): HTMLElement {
  const { merchant, amount, description, reference } = session;
  const title = fillText(texts.payTo, { merchant: merchant.displayName });
  const size = amount && amount.formatted.length > longAmount ? "amount is-long" : "amount";
  return makeElement(
    "section",
    { class: "order", "aria-label": title, hidden: !amount }, // an ended session has no order data
    amount && makeElement("p", { class: "total-label" }, texts.total),
    amount && makeElement("p", { class: size }, makeElement("bdi", {}, amount.formatted)),
    description ? makeElement("p", { class: "description" }, makeElement("bdi", {}, description)) : undefined,
    linesElement(session, texts, locale),
    reference
      ? makeElement("p", { class: "reference" }, `${texts.reference}: `, makeElement("bdi", {}, reference))
      : undefined,
  );
}

// More lines would push the fields below a phone's first screen.
const openMax = 4;

/** Undefined without line items. */
function linesElement({ lineItems, amount }: SessionView, texts: PageTexts, locale: string): HTMLElement | undefined {
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
