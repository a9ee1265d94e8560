// Who is paid, how much, and for what.
import type { SessionView } from "../sdk/contract.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { fillText, makeElement } from "./element.ts";
import { linesElement } from "./lines.ts";

const longAmount = 10; // characters that fit into one line of the smallest phone

export function summaryElement(session: SessionView, texts: PageTexts, locale: string): HTMLElement {
  const { merchant, branding, amount, description } = session;
  const logo = branding.logoUrl ? logoOf(branding.logoUrl) : undefined;
  const name = makeElement("p", { class: "merchant-name" }, merchant.displayName);
  const tagline = branding.tagline && makeElement("p", { class: "tagline" }, branding.tagline);
  return makeElement(
    "section",
    { class: "summary" },
    makeElement(
      "div",
      { class: "merchant" },
      logo ?? initial(merchant.displayName),
      makeElement("div", {}, name, tagline || undefined),
    ),
    makeElement(
      "div",
      { class: "order" },
      makeElement("h1", { class: "pay-to" }, fillText(texts.payTo, { merchant: merchant.displayName })),
      amount &&
        makeElement(
          "p",
          { class: amount.formatted.length > longAmount ? "amount is-long" : "amount" },
          amount.formatted,
        ),
      description ? makeElement("p", { class: "description" }, makeElement("bdi", {}, description)) : undefined,
      linesElement(session, texts, locale),
    ),
    support(session, texts),
  );
}

export function support({ merchant }: SessionView, texts: PageTexts): HTMLElement | undefined {
  const { supportEmail } = merchant;
  if (!supportEmail) return undefined;
  const [before = "", after = ""] = texts.support.split("{email}");
  const link = makeElement("a", { href: `mailto:${supportEmail}` }, supportEmail);
  return makeElement("p", { class: "support" }, before, link, after);
}

/** The name stands beside it, so the picture says nothing more. One that does not load leaves the initial. */
function logoOf(url: string): HTMLElement {
  const image = makeElement("img", {
    class: "logo",
    alt: "",
    width: "44",
    height: "44",
    referrerpolicy: "no-referrer",
  });
  const box = makeElement("span", { class: "logo-box" }, image);
  image.addEventListener("error", () => box.remove());
  image.src = url;
  return box;
}

function initial(name: string): HTMLElement {
  return makeElement(
    "span",
    { class: "logo-box logo-letter", "aria-hidden": "true" },
    [...name][0]?.toUpperCase() ?? "",
  );
}
