// The screen of a paid session: facts, receipt and return link. After a payment in this tab the buyer returns to the
// shop automatically, unless they choose to stay.
import type { PageTexts } from "../../languages.ts";
import type { SessionView } from "../../sdk/contract.ts";
import { membersOf } from "../../sdk/members.ts";
import { referenceOf, returnAddress } from "../../session-link.ts";
import { fillText, makeElement } from "../element.ts";
import { backLink, type MessageParts, message } from "./message.ts";

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
      makeElement(
        "div",
        { class: "links" },
        receiptLink(session, texts),
        printButton(texts),
        emailForm(session, texts),
      ),
    ],
    note: isFresh && successUrl ? countdown(returnAddress(successUrl, session.id, session.status), texts) : undefined,
  });
}

function factsOf(session: SessionView, texts: PageTexts, locale: string): (readonly [string, string])[] {
  const { amount, card, paidAt } = session;
  const facts: (readonly [string, string])[] = [];
  if (amount) facts.push([texts.amount, amount.formatted]);
  if (paidAt) facts.push([texts.date, dateText(paidAt, locale)]);
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

/** Our receipt page opens in this tab; the processor's, which has no way back, in another one. */
function receiptLink({ receiptPageUrl, receiptUrl }: SessionView, texts: PageTexts): HTMLElement | undefined {
  const href = receiptPageUrl ?? receiptUrl;
  const elsewhere = !receiptPageUrl && { target: "_blank", rel: "noopener noreferrer" };
  return href ? makeElement("a", { href, ...elsewhere }, texts.receipt) : undefined;
}

/** Posts the receipt's token, and the receipt page shows the outcome. */
function emailForm({ id, receiptPageUrl, receiptEmail }: SessionView, texts: PageTexts): HTMLElement | undefined {
  if (!receiptPageUrl || !receiptEmail) return undefined;
  const value = new URL(receiptPageUrl).searchParams.get("receipt") ?? "";
  return makeElement(
    "form",
    { method: "post", action: `/c/${id}/receipt` },
    makeElement("input", { type: "hidden", name: "receipt", value }),
    makeElement("button", { class: "link" }, texts.emailReceipt),
  );
}

/** Adds to the receipt that the server has sent: the print button, and the date in the buyer's time zone. */
export function completeReceipt(receipt: HTMLElement): void {
  for (const time of receipt.querySelectorAll("time"))
    time.textContent = dateText(time.dateTime, document.documentElement.lang);
  const button = receipt.querySelector<HTMLElement>("[hidden]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => print());
}

function dateText(moment: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(moment));
}

function printButton(texts: PageTexts): HTMLElement {
  const button = makeElement("button", { type: "button", class: "link" }, texts.print);
  button.addEventListener("click", () => print());
  return button;
}

/** Returns the buyer to the shop after a few seconds. */
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
  // A page restored from the browser's history must not redirect again.
  addEventListener("pagehide", () => {
    end();
    note.remove();
  });
  show();
  return note;
}

const pauseMaxMs = 30_000;
const checkingMs = 30_000; // usually enough for the processor's webhook
const requestsMax = 60; // half an hour
const askMs = 12_000;

interface Shop {
  readonly sessionId: string;
  readonly name: string | undefined;
}

/**
 * @param result of a bank's page: this tab cannot finish the payment, so the server does
 * @param show called with undefined if the token is invalid
 */
export function followReturn(
  shop: Shop,
  token: string,
  result: string | undefined,
  texts: PageTexts,
  show: (parts: MessageParts | undefined) => void,
): void {
  const since = Date.now();
  let latest: ReturnState = { status: "checking", successUrl: "", cancelUrl: "" };
  let shown = "";
  let requestCount = 0;
  let query = new URLSearchParams({ return: token, ...(result && { result }) });
  const ask = async () => {
    const answer = await readState(shop.sessionId, query);
    if (answer === "refused") return show(undefined);
    if (answer) query = new URLSearchParams({ return: token });
    latest = answer ?? latest;
    const isChecking = latest.status === "open" && Date.now() - since < checkingMs;
    const status = isChecking ? "checking" : latest.status;
    const view = `${status} ${latest.cancelUrl}`;
    if (view !== shown) show(messageOf(shop, status, latest, texts));
    shown = view;
    const isOver = !["open", "checking", "processing"].includes(status);
    if (!isOver && ++requestCount < requestsMax)
      setTimeout(() => void ask(), Math.min(500 * 2 ** requestCount, pauseMaxMs));
  };
  void ask();
}

interface ReturnState {
  readonly status: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** `refused`: unknown session or wrong token; undefined: no usable response. */
async function readState(sessionId: string, query: URLSearchParams): Promise<ReturnState | "refused" | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), askMs);
  try {
    const address = `/c/${sessionId}/state?${query}`;
    const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", signal: limit.signal });
    if (response.status === 404) return "refused";
    if (!response.ok) return undefined;
    const { status, success_url: success = "", cancel_url: cancel = "" } = membersOf(await response.json());
    return { status: String(status), successUrl: String(success), cancelUrl: String(cancel) };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(
  { sessionId, name }: Shop,
  status: string,
  { successUrl, cancelUrl }: ReturnState,
  texts: PageTexts,
): MessageParts {
  const isPaid = status === "completed";
  const isKnown = isPaid || status === "expired" || status === "canceled" || status === "open";
  const address = status === "open" || (isKnown && !isPaid) ? cancelUrl : successUrl || cancelUrl;
  const merchant = name ?? (address && new URL(address).host);
  const shownStatus = isKnown ? status : "processing";
  const label = fillText(texts.back, { merchant });
  // Only on arrival: a buyer who reloads the page or returns to it later stays.
  const [arrival] = performance.getEntriesByType("navigation");
  const isArrival = membersOf(arrival).type === "navigate";
  const [title, template] = textsFor(status, texts);
  const text = merchant === "" && template.includes("{") ? texts.invalidText : template;
  return {
    sign: isPaid ? "done" : status === "expired" || status === "canceled" ? "attention" : "wait",
    title,
    text: fillText(text, { merchant }),
    facts: [[texts.reference, referenceOf({ id: sessionId })]],
    actions: [backLink({ id: sessionId }, address, shownStatus, label, isPaid)],
    note:
      isPaid && isArrival && successUrl
        ? countdown(returnAddress(successUrl, sessionId, shownStatus), texts)
        : undefined,
  };
}

function textsFor(status: string, texts: PageTexts): readonly [title: string, text: string] {
  switch (status) {
    case "completed":
      return [texts.paidTitle, texts.paidText];
    case "expired":
      return [texts.expiredTitle, texts.expiredText];
    case "canceled":
      return [texts.canceledTitle, texts.canceledText];
    case "checking":
      return [texts.checkTitle, texts.checkText];
    case "open":
      return [texts.openTitle, texts.openText];
    default:
      return [texts.processingTitle, texts.processingText];
  }
}
