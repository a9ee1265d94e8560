// A merchant account at the stand-in of Adyen: pages that buyers pay on, payments, modifications that end later, and
// their webhook items in the order of creation.
import { randomBytes } from "node:crypto";
import type * as checkout from "@adyen/api-library/lib/src/typings/checkout/models.js";
import type { Wire } from "./adyen-fields.ts";
import { type AdyenCredentials, type NotificationFields, timeOf, WebhookQueue } from "./adyen-notifications.ts";

type Money = Wire<checkout.Amount>;
/** A payment link or a session. */
export interface Page {
  readonly id: string;
  readonly kind: "link" | "session";
  readonly request: Wire<checkout.PaymentLinkRequest> | Wire<checkout.CreateCheckoutSessionRequest>;
  expiresMs: number;
  /** Its end, but not by time. */
  ended?: "completed" | "refused";
  readonly tries: Payment[];
  /** Of a session: each answer to the browser brings a new one, and only the newest is taken. */
  sessionData: string;
  /** Answers by sessionResult; an answer never changes. */
  readonly results: Map<string, Wire<checkout.SessionResultResponse>>;
}
/** Something that webhooks are about: a payment, a modification or a dispute. */
interface Subject {
  readonly psp: string;
  readonly payment?: Payment | undefined;
  readonly original?: string | undefined;
  readonly reference: string;
  readonly amount: Money;
}
/** A try of a buyer. */
export interface Payment extends Subject {
  readonly method: string;
  readonly isAuthorised: boolean;
  readonly atMs: number;
  /** Undefined: not yet, and nothing is released yet. */
  captured: number | undefined;
  refunded: number;
}
type Modification = "CAPTURE" | "CANCELLATION" | "REFUND" | "CANCEL_OR_REFUND" | "TECHNICAL_CANCEL";
export interface Outcome {
  /** The webhook's `reason`: Refused, Expired Card, CVC Declined, Not enough balance, 3D Not Authenticated, FRAUD … */
  readonly refused?: string | undefined;
  readonly method?: string;
  /** The number of the card. */
  readonly card?: string;
  /** The try began before the page ended, and may end all the same. */
  readonly isLate?: boolean;
}
type Order = Page["request"] | Wire<checkout.PaymentRequest>;
type ItemFields = Partial<NotificationFields>;

const triesMax = 5; // of a session, by an issue of Adyen Web; not documented
const dayMs = 86_400_000;

export class AdyenAccount extends WebhookQueue {
  readonly name: string;
  readonly #nowMs: () => number;
  readonly pages = new Map<string, Page>();
  readonly payments = new Map<string, Payment>();
  /** By shopper and id: the outcome of a payment with a card that Adyen keeps. */
  readonly cards = new Map<string, Outcome>();
  /** Answers to disputes: the types of documents so far, and whether it is sent. */
  readonly disputes = new Map<string, { documents: Set<string>; isAnswered: boolean }>();
  /** Whether events of disputes name their payment, a setting of the webhook. */
  namesOriginals = true;
  readonly #subjects = new Map<string, Subject>();
  readonly #pending: { code: Modification; subject: Subject }[] = [];

  constructor(name: string, credentials: AdyenCredentials, nowMs: () => number) {
    super(credentials);
    this.name = name;
    this.#nowMs = nowMs;
  }

  addPage(kind: Page["kind"], request: Page["request"], lifeMs: number): Page {
    const expiresMs = request.expiresAt === undefined ? this.#nowMs() + lifeMs : Date.parse(request.expiresAt);
    const id = `${kind === "link" ? "PL" : "CS"}${newPsp()}`;
    const page: Page = { id, kind, request, expiresMs, tries: [], sessionData: newSecret(), results: new Map() };
    this.pages.set(id, page);
    return page;
  }

  statusOf(page: Page): "active" | "completed" | "refused" | "expired" {
    return page.ended ?? (this.#nowMs() < page.expiresMs ? "active" : "expired");
  }

  /** The buyer tries to pay the link or session, which makes an AUTHORISATION. @returns the try's pspReference */
  pay(id: string, outcome: Outcome = {}): string {
    const page = known(this.pages, id);
    const status = this.statusOf(page);
    if (status !== "active" && !outcome.isLate) throw new Error(`the page is ${status}`);
    // That the session's id always comes is not certain.
    const linked = { [page.kind === "link" ? "paymentLinkId" : "checkoutSessionId"]: id };
    const payment = this.payOrder(page.request, outcome, linked);
    page.tries.push(payment);
    if (payment.isAuthorised) page.ended = "completed";
    else if (page.kind === "session" && page.tries.length === triesMax) page.ended ??= "refused";
    return payment.psp;
  }

  /** A card that Adyen keeps for a shopper. @returns its storedPaymentMethodId */
  keepCard(shopperReference: string, outcome: Outcome = {}): string {
    const id = newPsp();
    this.cards.set(`${shopperReference}/${id}`, outcome);
    return id;
  }

  /** One try, whose outcome a webhook reports. @param extra more additionalData */
  payOrder(order: Order, outcome: Outcome, extra: Readonly<Record<string, string>>): Payment {
    const { card = "4111111111111111", refused } = outcome;
    const payment = this.#addTry(order, outcome);
    const [cardSummary, isCard] = [card.slice(-4), /^(?:visa|mc|amex)$/.test(payment.method)];
    const cardData = {
      ...{
        cardSummary,
        expiryDate: "03/2030",
        cardBin: card.slice(0, 6),
        fundingSource: "CREDIT",
        totalFraudScore: "10",
      },
      ...{ cvcResult: "1 Matches", avsResult: "4 AVS not supported for this card type" },
      ...(refused ? { refusalReasonRaw: "DECLINED" } : { authCode: "026421" }),
    };
    const pairs = Object.entries(order.metadata ?? {}).map(([name, value]) => [`metadata.${name}`, value]);
    const metadata: Record<string, string> = Object.fromEntries(pairs);
    this.#report("AUTHORISATION", payment, {
      ...{ success: refused ? "false" : "true", reason: refused ?? (isCard ? `026421:${cardSummary}:03/2030` : "") },
      additionalData: { paymentMethodVariant: payment.method, ...(isCard ? cardData : {}), ...metadata, ...extra },
      ...(refused ? {} : { operations: ["CANCEL", "CAPTURE", "REFUND"] }),
    });
    return payment;
  }

  #addTry(order: Order, { method = "visa", refused }: Outcome): Payment {
    const { reference, amount } = order;
    const [psp, captured] = [newPsp(), isManual(order) ? undefined : amount.value];
    // Automatic capture sends no CAPTURE (second hand).
    const tried = { psp, reference, amount, method, isAuthorised: refused === undefined, atMs: this.#nowMs() };
    const payment: Payment = { ...tried, captured, refunded: 0 };
    this.payments.set(payment.psp, payment);
    this.#subjects.set(payment.psp, payment);
    return payment;
  }

  /** Takes a modification as Adyen does: received, whatever its outcome will be. @returns its pspReference */
  modify(code: Modification, original: string, reference?: string, amount?: Money): string {
    const isOurs = code === "TECHNICAL_CANCEL";
    const fitting = [...this.payments.values()].filter((each) => (isOurs ? each.reference : each.psp) === original);
    const payment = fitting.find(({ isAuthorised }) => isAuthorised) ?? fitting[0];
    const subject: Subject = {
      ...{ psp: newPsp(), payment, original: payment?.psp ?? (isOurs ? undefined : original) },
      reference: reference ?? payment?.reference ?? "",
      amount: amount ?? payment?.amount ?? { currency: "EUR", value: 0 },
    };
    this.#subjects.set(subject.psp, subject);
    this.#pending.push({ code, subject });
    return subject.psp;
  }

  /** Modifications requested so far end: each gets its webhook item. @param outcome a refusal in place of what fits */
  settle({ success = true, reason = "Refused" }: { success?: boolean; reason?: string } = {}): void {
    for (const { code, subject } of this.#pending.splice(0)) {
      const action = subject.payment?.captured === undefined ? "cancel" : "refund";
      const refusal = success ? this.#apply(code, subject) : reason;
      this.#report(code, subject, {
        ...{ success: refusal === "" ? "true" : "false", reason: refusal },
        ...(code === "CANCEL_OR_REFUND" ? { additionalData: { "modification.action": action } } : {}),
      });
    }
  }

  /** Does what was asked for. @returns why it cannot be done, or nothing. Adyen's own texts are known for few cases. */
  #apply(code: Modification, { payment, amount }: Subject): string {
    if (!payment?.isAuthorised) return "Original payment not found";
    const { captured } = payment;
    const isRefund = code === "REFUND" || (code === "CANCEL_OR_REFUND" && captured !== undefined);
    if (!isRefund) {
      if (captured !== undefined) return "Payment is not authorised any more";
      // A cancellation by our reference works for a day (second hand).
      if (code === "TECHNICAL_CANCEL" && this.#nowMs() > payment.atMs + dayMs) return "Too late to cancel";
      if (code === "CAPTURE" && amount.value > payment.amount.value) return "Insufficient balance on payment";
      payment.captured = code === "CAPTURE" ? amount.value : 0;
      return "";
    }
    if (captured === undefined) return "Transaction hasn't been captured, refund not possible";
    const wanted = code === "REFUND" ? amount.value : captured;
    if (wanted > captured - payment.refunded || wanted === 0) return "Insufficient balance on payment";
    payment.refunded += wanted;
    return "";
  }

  /**
   * Later events of a payment, a modification, a dispute or an unfinished try of a page; `fields` merge into the item.
   * Which pspReference a failed capture or refund has is second hand. @returns the item's pspReference
   */
  later(code: string, pspReference: string, fields: ItemFields = {}): string {
    const page = this.pages.get(pspReference);
    const found = page ? this.#addTry(page.request, { refused: "" }) : known(this.#subjects, pspReference);
    const isAutomatic = code === "CAPTURE_FAILED" && found.original === undefined;
    const payment = found.payment ?? this.payments.get(found.psp);
    const subject = isAutomatic ? { ...found, payment, psp: newPsp(), original: found.psp } : found;
    this.#subjects.set(subject.psp, subject);
    if (payment && code === "CAPTURE_FAILED") payment.captured = 0;
    if (payment && code === "CAPTURE") payment.captured = subject.amount.value;
    if (payment && /^REFUND(?:_FAILED|ED_REVERSED)$/.test(code)) payment.refunded -= subject.amount.value;
    if (payment && code === "EXPIRE") payment.captured ??= 0;
    this.#report(code, subject, { success: "true", reason: "", ...fields });
    return subject.psp;
  }

  /** The buyer's bank disputes a payment. @returns the dispute's pspReference, for `later` */
  dispute(paymentPsp: string, code: string, { additionalData, ...fields }: ItemFields = {}): string {
    const payment = known(this.payments, paymentPsp);
    const { reference, amount } = payment;
    const subject: Subject = { psp: newPsp(), payment, original: paymentPsp, reference, amount };
    this.#subjects.set(subject.psp, subject);
    this.disputes.set(subject.psp, { documents: new Set(), isAnswered: false });
    const disputeStatus = code === "REQUEST_FOR_INFORMATION" ? "Unresponded" : "Undefended";
    const reason = { chargebackReasonCode: "10.4", chargebackSchemeCode: "visa", disputeStatus, defendable: "true" };
    const data = { ...reason, defensePeriodEndsAt: timeOf(this.#nowMs() + 18 * dayMs), ...additionalData };
    const item = { reason: "Other Fraud-Card Absent Environment", ...fields, additionalData: data };
    return this.later(code, subject.psp, item);
  }

  /** The text that the browser gets after a try and that lets a server read the session. */
  sessionResult(id: string): string {
    const page = known(this.pages, id);
    const paid = page.tries.filter(({ isAuthorised }) => isAuthorised);
    const payments = paid.map(({ psp, amount }) => ({ pspReference: psp, amount, resultCode: "Authorised" as const }));
    const made = newSecret();
    page.results.set(made, { id, status: this.statusOf(page), reference: page.request.reference, payments });
    return made;
  }

  /** The page ends now. */
  expire(id: string): void {
    known(this.pages, id).expiresMs = this.#nowMs();
  }

  #report(eventCode: string, subject: Subject, fields: ItemFields & Pick<NotificationFields, "success">): void {
    const { psp, reference, amount, payment = this.payments.get(psp) } = subject;
    const original = this.namesOriginals || !this.disputes.has(psp) ? subject.original : undefined;
    this.announce({
      ...{ amount, eventCode, eventDate: timeOf(this.#nowMs()), merchantAccountCode: this.name },
      ...{ merchantReference: reference, pspReference: psp },
      ...(original === undefined ? {} : { originalReference: original }),
      ...(payment ? { paymentMethod: payment.method } : {}),
      ...fields,
    });
  }
}

function isManual(order: Order): boolean {
  if ("manualCapture" in order) return order.manualCapture === true;
  return "additionalData" in order && order.additionalData?.manualCapture === "true";
}

function known<T>(all: ReadonlyMap<string, T>, id: string): T {
  const found = all.get(id);
  if (found === undefined) throw new Error(`nothing has the id ${id}`);
  return found;
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const newPsp = () => [...randomBytes(16)].map((byte) => letters[byte % letters.length]).join("");
export const newSecret = () => randomBytes(24).toString("base64");
