// The end of a good visit: what was paid, the receipt, the way back to the shop. A payment that was made in this visit
// takes the buyer back by itself, unless the buyer wants to stay; a link that is opened again later does not.
import type { SessionView } from "../sdk/contract.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { fillText, makeElement } from "./element.ts";
import { linesElement } from "./lines.ts";
import { backLink, message, receiptLink } from "./message.ts";
import { returnAddress } from "./return-address.ts";

const backSeconds = 5; // long enough to read that it worked

export function paidScreen(session: SessionView, texts: PageTexts, locale: string, isFresh: boolean): HTMLElement {
  const { merchant, amount, description, payment, successUrl } = session;
  const merchantName = merchant.displayName;
  const lines = linesElement(session, texts, locale);
  const facts: [string, string][] = amount && !lines ? [[texts.amount, amount.formatted]] : [];
  facts.push([texts.paidTo, merchantName]);
  if (description) facts.push([texts.description, description]);
  if (payment) facts.push([texts.reference, payment.id]);
  return message({
    sign: "done",
    title: isFresh ? texts.paidTitle : texts.alreadyTitle,
    text: texts.paidText,
    lines,
    facts,
    actions: [
      backLink(session, successUrl, session.status, fillText(texts.back, { merchant: merchantName })),
      receiptLink(session, texts),
    ],
    note: isFresh && successUrl ? countdown(returnAddress(successUrl, session.id, session.status), texts) : undefined,
  });
}

function countdown(address: string, texts: PageTexts): HTMLElement {
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
  // Back from the shop to a page that the browser kept: it must not send the buyer away again.
  addEventListener("pagehide", () => {
    end();
    note.remove();
  });
  show();
  return note;
}
