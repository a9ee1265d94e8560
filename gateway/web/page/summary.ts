// Who is paid, how much, and for what.
import type { SessionView } from "../sdk/contract.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { fill, make } from "./element.ts";

const longAmount = 10; // characters that fit into one line of the smallest phone

export function summary(session: SessionView, texts: PageTexts): HTMLElement {
  const { merchant, branding, amount, description } = session;
  const logo = branding.logoUrl ? logoOf(branding.logoUrl) : undefined;
  const name = make("p", { class: "merchant-name" }, merchant.displayName);
  const tagline = branding.tagline && make("p", { class: "tagline" }, branding.tagline);
  return make(
    "section",
    { class: "summary" },
    make(
      "div",
      { class: "merchant" },
      logo ?? initial(merchant.displayName),
      make("div", {}, name, tagline || undefined),
    ),
    make(
      "div",
      { class: "order" },
      make("h1", { class: "pay-to" }, fill(texts.payTo, { merchant: merchant.displayName })),
      amount &&
        make("p", { class: amount.formatted.length > longAmount ? "amount is-long" : "amount" }, amount.formatted),
      description ? make("p", { class: "description", dir: "auto" }, description) : undefined,
    ),
    support(session, texts),
  );
}

export function support({ merchant }: SessionView, texts: PageTexts): HTMLElement | undefined {
  const { supportEmail } = merchant;
  if (!supportEmail) return undefined;
  const [before = "", after = ""] = texts.support.split("{email}");
  const link = make("a", { href: `mailto:${supportEmail}` }, supportEmail);
  return make("p", { class: "support" }, before, link, after);
}

/** The name stands beside it, so the picture says nothing more. One that does not load leaves the initial. */
function logoOf(url: string): HTMLElement {
  const image = make("img", { class: "logo", alt: "", width: "44", height: "44", referrerpolicy: "no-referrer" });
  const box = make("span", { class: "logo-box" }, image);
  image.addEventListener("error", () => box.remove());
  image.src = url;
  return box;
}

function initial(name: string): HTMLElement {
  return make("span", { class: "logo-box logo-letter", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "");
}
