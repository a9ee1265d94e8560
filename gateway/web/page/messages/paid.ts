// The screen of a paid session: facts, receipt and return link. After a payment in this tab the buyer returns to the
// shop automatically, unless they choose to stay.

import type { PageTexts } from "../../languages.ts";
import type { SessionView } from "../../sdk/contract.ts";
import { referenceOf } from "../../session-link.ts";
import { fillText, makeElement } from "../element.ts";
import { returnAddress } from "../link.ts";
import { backLink, message } from "./message.ts";

const backSeconds = 5; // long enough to read the result

export function paidScreen(session: SessionView, texts: PageTexts, locale: string, isFresh: boolean): HTMLElement {
  const { merchant, legal, successUrl, cancelUrl } = session;
  const back = fillText(texts.back, { merchant: merchant.displayName });
  return message({
    sign: "done",
    title: isFresh ? texts.paidTitle : texts.alreadyTitle,
    text: texts.paidText,
    facts: [...factsOf(session, texts, locale), [texts.paidTo, legal?.name ?? merchant.displayName]],
    actions: [
      backLink(session, successUrl ?? cancelUrl, session.status, back),
      makeElement("p", { class: "links" }, receiptLink(session, texts), printButton(texts)),
    ],
    note: isFresh && successUrl ? countdown(returnAddress(successUrl, session.id, session.status), texts) : undefined,
  });
}

function factsOf(session: SessionView, texts: PageTexts, locale: string): (readonly [string, string])[] {
  const { amount, card, paidAt } = session;
  const facts: (readonly [string, string])[] = [];
  if (amount) facts.push([texts.amount, amount.formatted]);
  if (paidAt) {
    const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(paidAt));
    facts.push([texts.date, date]);
  }
  if (card) {
    const brand = brandNames.get(card.brand) ?? card.brand;
    // Forces the page's direction, since the text may begin with a Latin brand.
    const direction = document.documentElement.dir === "rtl" ? "\u200f" : "";
    facts.push([texts.card, direction + fillText(texts.cardEnding, { brand, last4: card.last4 })]);
  }
  return [...facts, [texts.reference, referenceOf(session)]];
}

const brandNames = new Map([
  ["visa", "Visa"],
  ["mastercard", "Mastercard"],
  ["amex", "American Express"],
  ["discover", "Discover"],
  ["diners", "Diners Club"],
  ["jcb", "JCB"],
  ["unionpay", "UnionPay"],
]);

function receiptLink({ receiptUrl: href }: SessionView, texts: PageTexts): HTMLElement | undefined {
  return href ? makeElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, texts.receipt) : undefined;
}

function printButton(texts: PageTexts): HTMLElement {
  const button = makeElement("button", { type: "button", class: "link" }, texts.print);
  button.addEventListener("click", () => print());
  return button;
}

/** Returns the buyer to the shop after a few seconds. */
export function countdown(address: string, texts: PageTexts): HTMLElement {
  const text = makeElement("span");
  const stay = makeElement("button", { type: "button", class: "quiet" }, texts.stay);
  const note = makeElement("p", { class: "countdown" }, text, stay);
  let left = backSeconds;
  const show = () => (text.textContent = fillText(texts.backIn, { seconds: String(left) }));
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return show();
    end();
    location.assign(address);
  }, 1_000);
  const end = () => clearInterval(timer);
  stay.addEventListener("click", () => {
    end();
    note.remove();
  });
  // A page restored from the browser's history must not redirect again.
  addEventListener("pagehide", () => {
    end();
    note.remove();
  });
  show();
  return note;
}
