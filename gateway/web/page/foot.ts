// The footer of every screen: seller, terms, processor and support address.

import type { PageTexts } from "../languages.ts";
import type { SessionView } from "../sdk/contract.ts";
import { makeElement } from "./element.ts";

/** @param session undefined if only the merchant is known */
export function foot(session: SessionView | undefined, email: string | undefined, texts: PageTexts): HTMLElement {
  const seller = session && legal(session, texts);
  return makeElement("footer", { class: "foot" }, seller, support(email, texts));
}

function support(email: string | undefined, texts: PageTexts): HTMLElement | undefined {
  if (!email) return undefined;
  const [before = "", after = ""] = texts.support.split("{email}");
  const link = makeElement("a", { href: `mailto:${email}` }, makeElement("bdi", {}, email));
  return makeElement("p", { class: "support" }, before, link, after);
}

/** Links open in a new tab and keep the fields. */
function legal({ legal: seller }: SessionView, texts: PageTexts): HTMLElement | undefined {
  if (!seller) return undefined;
  const { name, termsUrl, privacyUrl } = seller;
  const parts: Node[] = [];
  if (name) {
    const [before = "", after = ""] = texts.seller.split("{name}");
    parts.push(makeElement("span", {}, before, makeElement("bdi", {}, name), after));
  }
  for (const [href, label] of [
    [termsUrl, texts.terms],
    [privacyUrl, texts.privacy],
  ] as const) {
    if (href) parts.push(makeElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, label));
  }
  return makeElement("p", { class: "legal" }, ...parts);
}

const processors = new Map([
  ["stripe", "Stripe"],
  ["adyen", "Adyen"],
  ["simulator", "Tollbooth Simulator"],
]);

/** Name of the processor; undefined if buyers do not know it. */
export function processorName({ surface }: SessionView): string | undefined {
  return processors.get(surface.connector);
}
