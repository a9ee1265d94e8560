// The receipt of a paid session, complete without a script. It shows what the payment is now: captured, authorized,
// released, returned or refunded.
import { cardNetworks, methodName } from "#platform/values/money.ts";
import { type Html, html } from "../../html.ts";
import type { PageTexts } from "../languages.ts";
import { referenceOf, returnAddress } from "../session-link.ts";
import {
  backButton,
  moneyText,
  type OrderLine,
  type ViewMessage,
  type ViewParts,
  viewMessage,
  viewPage,
} from "./parts.ts";

export interface ReceiptFacts {
  readonly sessionId: string;
  readonly token: string;
  /** The requested amount, minor units. */
  readonly amount: bigint;
  readonly capturedAmount: bigint;
  readonly refundedAmount: bigint;
  readonly currency: string;
  readonly paymentStatus: string;
  readonly paidAt: Date | undefined;
  readonly cardBrand: string;
  readonly cardLast4: string;
  /** `card`, `ideal` …; may be empty. */
  readonly paymentMethod: string;
  readonly wallet: string;
  readonly bankLast4: string;
  readonly reference: string;
  readonly description: string;
  /** Their sum is the requested amount. */
  readonly lines: readonly OrderLine[];
  /** The shop's page; may be empty. */
  readonly backUrl: string;
  readonly canEmail: boolean;
  /** Outcome of a mail that was asked for. */
  readonly mail: "sent" | "failed" | undefined;
}

export function receiptPage(parts: ViewParts, facts: ReceiptFacts): string {
  const { language, merchant, seller } = parts;
  const { texts } = language;
  const { currency, capturedAmount, refundedAmount, amount, description, mail } = facts;
  const shown = capturedAmount > 0n ? capturedAmount : amount;
  const rows: [string, string | Html][] = [[texts.amount, moneyText(language, shown, currency)]];
  if (refundedAmount > 0n) rows.push([texts.refunded, moneyText(language, refundedAmount, currency)]);
  if (facts.paidAt) rows.push([texts.date, timeElement(language.tag, facts.paidAt)]);
  if (facts.cardLast4 !== "") rows.push([texts.card, cardText(parts, facts)]);
  else if (facts.paymentMethod !== "") rows.push([texts.method, methodText(parts, facts)]);
  rows.push(
    [texts.reference, referenceOf({ id: facts.sessionId, ...(facts.reference && { reference: facts.reference }) })],
    [texts.paidTo, seller.legalName || merchant.name],
  );
  const state = stateOf(parts, facts);
  const back = facts.backUrl && returnAddress(facts.backUrl, facts.sessionId, "completed");
  const panel = viewMessage({
    ...state,
    notice: mail && mailNotice(mail, language.texts),
    facts: rows,
    actions: [
      backButton(
        back,
        texts.back.replace("{merchant}", () => merchant.name),
      ),
      linkRow(parts, facts),
    ],
  });
  const lines = shown === amount ? facts.lines : [];
  const order = { amount: shown, currency, description, lines };
  return viewPage(parts, { title: state.title, order, panel, id: "receipt" });
}

function stateOf(
  { language, merchant }: ViewParts,
  { paymentStatus, capturedAmount, refundedAmount, currency }: ReceiptFacts,
): Pick<ViewMessage, "sign" | "title" | "text"> {
  const { texts } = language;
  const filled = (text: string) =>
    text
      .replace("{merchant}", () => merchant.name)
      .replace("{amount}", () => moneyText(language, refundedAmount, currency));
  if (paymentStatus === "failed")
    return { sign: "attention", title: texts.returnedTitle, text: filled(texts.returnedText) };
  if (paymentStatus === "canceled") return { sign: "attention", title: texts.canceledTitle, text: texts.releasedText };
  if (capturedAmount === 0n) return { sign: "done", title: texts.authorizedTitle, text: filled(texts.authorizedText) };
  if (refundedAmount === 0n) return { sign: "done", title: texts.paidTitle, text: texts.paidText };
  const title = refundedAmount < capturedAmount ? texts.refundedPartTitle : texts.refundedTitle;
  return { sign: "done", title, text: filled(texts.refundedText) };
}

function cardText(parts: ViewParts, { cardBrand, cardLast4, wallet }: ReceiptFacts): string {
  const network = cardNetworks.get(cardBrand) ?? cardBrand;
  return endingText(parts, wallet === "" ? network : `${methodName(wallet)}, ${network}`, cardLast4);
}

function methodText(parts: ViewParts, { paymentMethod, bankLast4 }: ReceiptFacts): string {
  return bankLast4 === "" ? methodName(paymentMethod) : endingText(parts, methodName(paymentMethod), bankLast4);
}

/** Forces the page's direction, since the text may begin with a Latin brand. */
function endingText({ language: { texts, direction } }: ViewParts, brand: string, last4: string): string {
  const text = texts.cardEnding.replace("{brand}", () => brand).replace("{last4}", () => last4);
  return direction === "rtl" ? `\u200f${text}` : text;
}

/** In UTC until the page's script knows the buyer's time zone. */
function timeElement(tag: string, at: Date): Html {
  const format = new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return html`<time datetime="${at.toISOString()}">${format.format(at)} UTC</time>`;
}

function mailNotice(mail: "sent" | "failed", texts: PageTexts): Html {
  const [look, text] = mail === "sent" ? ["notice-done", texts.emailSent] : ["", texts.emailNotSent];
  return html`<p class="notice ${look}" role="status">${text}</p>`;
}

/** The script shows the print button. */
function linkRow({ language: { texts } }: ViewParts, facts: ReceiptFacts): Html {
  const { sessionId, token, canEmail, mail } = facts;
  const form = canEmail && mail !== "sent" ? emailForm(sessionId, token, texts.emailReceipt) : "";
  return html`<div class="links"><button type="button" class="link" hidden>${texts.print}</button>${form}</div>`;
}

function emailForm(sessionId: string, token: string, label: string): Html {
  return html`<form method="post" action="/c/${sessionId}/receipt"><input type="hidden" name="receipt" value="${token}"><button class="link">${label}</button></form>`;
}
