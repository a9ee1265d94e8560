// Mails to buyers in the language of their session: receipts, which contain no link, and payment requests.
// In the sandbox both show ids instead of the shop's texts (see queue-mail.ts).
import { cardNetworks, currencyExponent, methodName } from "#platform/values/money.ts";
import type { MailContent } from "./mail-content.ts";
import ar from "./receipts/ar.json" with { type: "json" };
import de from "./receipts/de.json" with { type: "json" };
import en from "./receipts/en.json" with { type: "json" };
import es from "./receipts/es.json" with { type: "json" };
import fr from "./receipts/fr.json" with { type: "json" };
import it from "./receipts/it.json" with { type: "json" };
import ja from "./receipts/ja.json" with { type: "json" };
import nl from "./receipts/nl.json" with { type: "json" };
import pl from "./receipts/pl.json" with { type: "json" };
import pt from "./receipts/pt.json" with { type: "json" };

/** `{…}` is a value, the same ones in each language. */
type ReceiptTexts = Readonly<typeof en>;
const languages: ReadonlyMap<string, ReceiptTexts> = new Map(
  Object.entries({ ar, de, en, es, fr, it, ja, nl, pl, pt }),
);

interface ReceiptFacts {
  readonly merchantName: string;
  /** May be empty. */
  readonly legalName: string;
  readonly supportEmail: string;
  readonly isSandbox: boolean;
  readonly isRefund: boolean;
  readonly refundFailed: boolean;
  readonly paymentId: string;
  /** BCP 47 of the session; may be empty. */
  readonly locale: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly at: Date;
  readonly reference: string;
  readonly description: string;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly amount: bigint }[];
  readonly cardBrand: string;
  readonly cardLast4: string;
  /** `card`, `ideal` …; may be empty. */
  readonly paymentMethod: string;
  readonly wallet: string;
  readonly bankLast4: string;
}

export function receiptMail(facts: ReceiptFacts): MailContent {
  const { tag, texts } = languageOf(facts.locale);
  const { merchantName: merchant, isSandbox, isRefund, supportEmail, legalName } = facts;
  // A refund's lines are ids, not texts of the shop.
  const lines = isSandbox && !isRefund ? [] : facts.lines;
  const amount = (minorUnits: bigint) => amountText(minorUnits, facts.currency, tag);
  const subject = fill(isRefund ? texts.refundSubject : texts.subject, { merchant });
  const words = facts.refundFailed ? texts.refundFailed : isRefund ? texts.refunded : texts.paid;
  const first = fill(words, { merchant, amount: amount(facts.amount) });
  const items = lines.map(({ name, quantity, amount: sum }): [string, string] => {
    return [quantity > 1 ? `${quantity} × ${name}` : name, amount(sum)];
  });
  const total: [string, string] = [isRefund ? texts.refund : texts.total, amount(facts.amount)];
  return {
    subject: `${isSandbox ? "[Sandbox] " : ""}${subject}`,
    paragraphs: isSandbox ? [first, texts.test] : [first],
    table: [...items, total],
    facts: factsOf(facts, tag, texts),
    notes: [
      ...(legalName === "" ? [] : [fill(texts.seller, { name: legalName })]),
      ...(supportEmail === "" ? [] : [fill(texts.support, { email: supportEmail })]),
      texts.why,
    ],
    language: tag,
  };
}

interface LinkFacts {
  readonly merchantName: string;
  readonly supportEmail: string;
  readonly isSandbox: boolean;
  readonly sessionId: string;
  readonly url: string;
  readonly locale: string;
  /** Minor units; 0: the buyer chooses. */
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly description: string;
  readonly expiresAt: Date | undefined;
}

export function paymentLinkMail(facts: LinkFacts): MailContent {
  const { tag, texts } = languageOf(facts.locale);
  const { merchantName: merchant, isSandbox, supportEmail, url } = facts;
  const { description, reference } = isSandbox ? { description: "", reference: facts.sessionId } : facts;
  const isOpen = facts.amount === 0n;
  const amount = amountText(facts.amount, facts.currency, tag);
  const request = fill(isOpen ? texts.requestOpen : texts.request, { merchant, amount });
  const known: [string, string][] = [
    [texts.for, description],
    [texts.reference, reference],
    [texts.until, facts.expiresAt ? dateText(facts.expiresAt, tag) : ""],
  ];
  return {
    subject: `${isSandbox ? "[Sandbox] " : ""}${fill(texts.linkSubject, { merchant })}`,
    paragraphs: isSandbox ? [request, texts.test] : [request],
    facts: known.filter(([, value]) => value !== ""),
    button: { label: fill(isOpen ? texts.payOpen : texts.pay, { amount }), url },
    notes: [
      ...(supportEmail === "" ? [] : [fill(texts.support, { email: supportEmail })]),
      fill(texts.linkWhy, { merchant }),
    ],
    language: tag,
  };
}

function factsOf(facts: ReceiptFacts, tag: string, texts: ReceiptTexts): [string, string][] {
  const { cardBrand, cardLast4, wallet, lines } = facts;
  const { description, reference } = facts.isSandbox ? { description: "", reference: facts.paymentId } : facts;
  const network = cardNetworks.get(cardBrand) ?? texts.card;
  const brand = wallet === "" ? network : `${methodName(wallet)}, ${network}`;
  const card = fill(texts.cardEnding, { brand, last4: cardLast4 });
  return [
    ...(description === "" || lines.length > 0 ? [] : [[texts.for, description] satisfies [string, string]]),
    [texts.date, dateText(facts.at, tag)],
    ...(cardLast4 === "" ? [] : [[texts.card, card] satisfies [string, string]]),
    ...otherMethod(facts, texts),
    [texts.reference, reference],
  ];
}

/** The method of a payment without a card. */
function otherMethod({ paymentMethod, cardLast4, bankLast4 }: ReceiptFacts, texts: ReceiptTexts): [string, string][] {
  if (cardLast4 !== "" || paymentMethod === "") return [];
  const brand = methodName(paymentMethod);
  return [[texts.method, bankLast4 === "" ? brand : fill(texts.cardEnding, { brand, last4: bankLast4 })]];
}

/** The session's locale if its language has texts, otherwise English. */
function languageOf(locale: string): { readonly tag: string; readonly texts: ReceiptTexts } {
  const [language = ""] = locale.toLowerCase().split(/[-_]/);
  const texts = languages.get(language);
  if (!texts) return { tag: "en", texts: en };
  return { tag: Intl.NumberFormat.supportedLocalesOf(locale)[0] ?? language, texts };
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}

/** Builds the decimal as text: no amount becomes a floating-point number. */
export function amountText(minorUnits: bigint, currency: string, tag: string): string {
  const exponent = currencyExponent(currency) ?? 2;
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  const format = new Intl.NumberFormat(tag, { style: "currency", currency, ...digits });
  const padded = String(minorUnits < 0n ? -minorUnits : minorUnits).padStart(exponent + 1, "0");
  const whole = `${minorUnits < 0n ? "-" : ""}${padded.slice(0, padded.length - exponent)}`;
  return format.format((exponent === 0 ? whole : `${whole}.${padded.slice(-exponent)}`) as `${number}`);
}

/** The reader's time zone is unknown, so the text is in UTC and names it. */
function dateText(at: Date, tag: string): string {
  const format = new Intl.DateTimeFormat(tag, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(at)} UTC`;
}
