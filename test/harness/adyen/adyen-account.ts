// A merchant account at the stand-in of Adyen: pages that buyers pay on, payments, modifications that end later, and
// their webhook items in the order of creation.
import { randomBytes } from "node:crypto";
import type {
  Amount,
  CreateCheckoutSessionRequest,
  PaymentLinkRequest,
  SessionResultResponse,
} from "@adyen/api-library/lib/src/typings/checkout/models.js";
import type { Wire } from "./adyen-fields.ts";
import {
  type NotificationFields,
  type NotificationItem,
  postOf,
  type SendOptions,
  sendQueue,
  signItem,
  timeOf,
  type WebhookCredentials,
  type WebhookPost,
} from "./adyen-notifications.ts";

export interface AdyenCredentials extends WebhookCredentials {
  readonly apiKey: string;
  readonly clientKey: string;
}
export type Money = Wire<Amount>;

/** A payment link or a session. */
export interface Page {
  readonly id: string;
  readonly kind: "link" | "session";
  readonly request: Wire<PaymentLinkRequest> | Wire<CreateCheckoutSessionRequest>;
  expiresMs: number;
  /** Its end, but not by time. */
  ended?: "completed" | "refused";
  readonly tries: Payment[];
  /** Of a session: each answer to the browser brings a new one, and only the newest is taken. */
  sessionData: string;
  /** Answers by sessionResult; an answer never changes. */
  readonly results: Map<string, Wire<SessionResultResponse>>;
}
/** A try of a buyer. */
export interface Payment {
  readonly psp: string;
  readonly reference: string;
  readonly amount: Money;
  readonly method: string;
  readonly isAuthorised: boolean;
  readonly atMs: number;
  /** Undefined: not yet, and nothing is released yet. */
  captured: number | undefined;
  refunded: number;
}
type Modification = "CAPTURE" | "CANCELLATION" | "REFUND" | "CANCEL_OR_REFUND" | "TECHNICAL_CANCEL";
/** Something that webhooks are about: a payment, a modification or a dispute. */
interface Subject {
  readonly psp: string;
  readonly payment: Payment | undefined;
  readonly original: string | undefined;
  readonly reference: string;
  readonly amount: Money;
}
/** Texts of webhooks' `reason`. */
type RefusalText =
  | "Refused"
  | "Expired Card"
  | "CVC Declined"
  | "Not enough balance"
  | "3D Not Authenticated"
  | "FRAUD";
interface Outcome {
  readonly refused?: RefusalText;
  readonly method?: string;
  /** The first digits and the last four; Adyen's usual test card by default. */
  readonly card?: string;
  /** The try began before the page ended, and may end all the same. */
  readonly isLate?: boolean;
}

const triesMax = 5; // of a session (S7); the number is not documented
const dayMs = 86_400_000;

export class AdyenAccount {
  readonly name: string;
  readonly credentials: AdyenCredentials;
  readonly #nowMs: () => number;
  readonly pages = new Map<string, Page>();
  readonly payments = new Map<string, Payment>();
  readonly #subjects = new Map<string, Subject>();
  readonly #pending: { code: Modification; subject: Subject }[] = [];
  readonly queue: NotificationItem[] = [];

  constructor(name: string, credentials: AdyenCredentials, nowMs: () => number) {
    this.name = name;
    this.credentials = credentials;
    this.#nowMs = nowMs;
  }

  newPsp(): string {
    return [...randomBytes(16)].map((byte) => "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[byte % 32]).join("");
  }

  addPage(kind: Page["kind"], request: Page["request"], lifeMs: number): Page {
    const expiresMs = request.expiresAt === undefined ? this.#nowMs() + lifeMs : Date.parse(request.expiresAt);
    const id = `${kind === "link" ? "PL" : "CS"}${this.newPsp()}`;
    const page: Page = { id, kind, request, expiresMs, tries: [], sessionData: newSecret(), results: new Map() };
    this.pages.set(id, page);
    return page;
  }

  statusOf(page: Page): "active" | "completed" | "refused" | "expired" {
    return page.ended ?? (this.#nowMs() < page.expiresMs ? "active" : "expired");
  }

  /** The buyer tries to pay the link or session, which makes an AUTHORISATION. @returns the try's pspReference */
  pay(id: string, outcome: Outcome = {}): string {
    const page = this.#page(id);
    const status = this.statusOf(page);
    if (status !== "active" && !outcome.isLate) throw new Error(`the page is ${status}`);
    const { refused } = outcome;
    const payment = this.addPayment(page.request, !refused, outcome.method);
    page.tries.push(payment);
    const linked = page.kind === "link" ? { paymentLinkId: id } : { checkoutSessionId: id };
    this.announceAuthorisation(payment, { ...linked, ...metadataOf(page.request) }, outcome);
    if (!refused && !(page.kind === "link" && "reusable" in page.request && page.request.reusable)) {
      page.ended = "completed";
    } else if (page.kind === "session" && page.tries.length === triesMax) page.ended ??= "refused";
    return payment.psp;
  }

  addPayment(order: PaymentOrder, isAuthorised: boolean, method = "visa"): Payment {
    const { reference, amount } = order;
    const captured = isManual(order) ? undefined : amount.value;
    const made: Payment = {
      ...{ psp: this.newPsp(), reference, amount, method, isAuthorised, atMs: this.#nowMs() },
      ...{ captured, refunded: 0 },
    };
    this.payments.set(made.psp, made);
    this.#subjects.set(made.psp, { psp: made.psp, payment: made, original: undefined, reference, amount });
    return made;
  }

  announceAuthorisation(payment: Payment, extra: Record<string, string>, outcome: Outcome = {}): void {
    const { card = "4111111111111111", refused } = outcome;
    const summary = card.slice(-4);
    const isCard = /^(?:visa|mc|amex)$/.test(payment.method);
    const cardData = {
      ...{ cardSummary: summary, expiryDate: "03/2030", cardBin: card.slice(0, 6), issuerCountry: "NL" },
      ...{ cvcResult: "1 Matches", cvcResultRaw: "M", avsResult: "4 AVS not supported for this card type" },
      ...{ fundingSource: "CREDIT", totalFraudScore: "10" },
      ...(refused ? { refusalReasonRaw: "DECLINED" } : { authCode: "026421" }),
    };
    const data = { paymentMethodVariant: payment.method, ...(isCard ? cardData : {}), ...extra };
    const approved = isCard ? `026421:${summary}:03/2030` : "";
    this.#announce("AUTHORISATION", this.#subject(payment.psp), {
      ...{ success: refused ? "false" : "true", reason: refused ?? approved, additionalData: data },
      ...(refused ? {} : { operations: ["CANCEL", "CAPTURE", "REFUND"] }),
    });
  }

  /** Takes a modification as Adyen does: received, whatever its outcome will be. @returns its pspReference */
  modify(code: Modification, original: string, reference: string | undefined, amount?: Money): string {
    const isOurs = code === "TECHNICAL_CANCEL";
    const known = [...this.payments.values()].find((each) => (isOurs ? each.reference : each.psp) === original);
    const subject: Subject = {
      ...{ psp: this.newPsp(), payment: known, original: known?.psp ?? (isOurs ? undefined : original) },
      reference: reference ?? known?.reference ?? "",
      amount: amount ?? known?.amount ?? { currency: "EUR", value: 0 },
    };
    this.#subjects.set(subject.psp, subject);
    this.#pending.push({ code, subject });
    return subject.psp;
  }

  /** Modifications requested so far end: each gets its webhook item. @param outcome a refusal in place of what fits */
  settle({ success = true, reason = "Refused" }: { success?: boolean; reason?: string } = {}): void {
    for (const { code, subject } of this.#pending.splice(0)) {
      const refusal = success ? this.#apply(code, subject) : reason;
      this.#announce(code, subject, {
        ...{ success: refusal === "" ? "true" : "false", reason: refusal },
        ...(code === "CANCEL_OR_REFUND" ? { additionalData: { "modification.action": actionOf(subject) } } : {}),
      });
    }
  }

  /** Does what was asked for. @returns why it cannot be done, or nothing. Adyen's own texts are known for few cases. */
  #apply(code: Modification, { payment, amount }: Subject): string {
    if (!payment?.isAuthorised) return "Original payment not found";
    const { captured } = payment;
    const isCancel = code === "CANCELLATION" || code === "TECHNICAL_CANCEL";
    if (code === "CAPTURE" || isCancel || (code === "CANCEL_OR_REFUND" && captured === undefined)) {
      if (captured !== undefined) return "Payment is not authorised any more";
      // A cancellation by our reference works for a day (S11).
      if (code === "TECHNICAL_CANCEL" && this.#nowMs() > payment.atMs + dayMs) return "Too late to cancel";
      if (code === "CAPTURE" && amount.value > payment.amount.value) return "Insufficient balance on payment";
      payment.captured = code === "CAPTURE" ? amount.value : 0;
      return "";
    }
    if (captured === undefined) return "Transaction hasn't been captured, refund not possible";
    const left = captured - payment.refunded;
    const wanted = code === "REFUND" ? amount.value : captured;
    if (wanted > left || wanted === 0) return "Insufficient balance on payment";
    payment.refunded += wanted;
    return "";
  }

  /**
   * Later events of a payment, a modification, a dispute or an unfinished try of a page; `fields` merge into the item.
   * Which pspReference a failed capture or refund has rests on S10. @returns the item's pspReference
   */
  later(code: string, pspReference: string, fields: Partial<NotificationFields> = {}): string {
    const page = this.pages.get(pspReference);
    const psp = page ? this.addPayment(page.request, false).psp : pspReference;
    const known = this.#subject(psp);
    const isAutomatic = code === "CAPTURE_FAILED" && known.original === undefined;
    const subject = isAutomatic ? { ...known, psp: this.newPsp(), original: psp } : known;
    this.#subjects.set(subject.psp, subject);
    const { payment, amount } = subject;
    if (payment && code === "CAPTURE_FAILED") payment.captured = 0;
    if (payment && code === "CAPTURE") payment.captured = amount.value;
    if (payment && (code === "REFUND_FAILED" || code === "REFUNDED_REVERSED")) payment.refunded -= amount.value;
    if (payment && code === "EXPIRE") payment.captured ??= 0;
    this.#announce(code, subject, { success: "true", reason: "", ...fields });
    return subject.psp;
  }

  /** The text that the browser gets after a try and that lets a server read the session. */
  sessionResult(id: string): string {
    const page = this.#page(id);
    const made = newSecret();
    const status = this.statusOf(page);
    const payments = page.tries
      .filter(({ isAuthorised }) => isAuthorised)
      .map(({ psp, amount }) => ({ pspReference: psp, amount, resultCode: "Authorised" as const }));
    page.results.set(made, { id, status, reference: page.request.reference, payments });
    return made;
  }

  /** The page ends now. */
  expire(id: string): void {
    this.#page(id).expiresMs = this.#nowMs();
  }

  /** The buyer's bank disputes a payment. @returns the dispute's pspReference, for `later` */
  dispute(paymentPsp: string, code: string, fields: Partial<NotificationFields> = {}): string {
    const { payment, reference, amount } = this.#subject(paymentPsp);
    const subject: Subject = { psp: this.newPsp(), payment, original: paymentPsp, reference, amount };
    this.#subjects.set(subject.psp, subject);
    const ends = timeOf(this.#nowMs() + 18 * dayMs);
    const { additionalData, ...others } = fields;
    const isInquiry = code === "REQUEST_FOR_INFORMATION";
    const data = {
      ...{ chargebackReasonCode: "10.4", chargebackSchemeCode: "visa", defensePeriodEndsAt: ends, defendable: "true" },
      ...{ disputeStatus: isInquiry ? "Unresponded" : "Undefended", ...additionalData },
    };
    this.later(code, subject.psp, { reason: "Other Fraud-Card Absent Environment", ...others, additionalData: data });
    return subject.psp;
  }

  #announce(
    eventCode: string,
    subject: Subject,
    fields: Partial<NotificationFields> & Pick<NotificationFields, "success">,
  ) {
    const { psp, original, payment, reference, amount } = subject;
    const item: NotificationFields = {
      ...{ amount, eventCode, eventDate: timeOf(this.#nowMs()), merchantAccountCode: this.name },
      ...{ merchantReference: reference, pspReference: psp },
      ...(original === undefined ? {} : { originalReference: original }),
      ...(payment ? { paymentMethod: payment.method } : {}),
      ...fields,
    };
    this.queue.push(signItem(item, this.credentials.hmacKey));
  }

  /** The items as one POST of Adyen's. */
  deliver(...items: NotificationItem[]): WebhookPost {
    return postOf(items, this.credentials);
  }

  /** Sends the queue to a URL until each got a 2xx or the rounds are over. */
  send(url: string, options: SendOptions = {}): Promise<void> {
    return sendQueue(this.queue, url, this.credentials, options);
  }

  #page(id: string): Page {
    const page = this.pages.get(id);
    if (!page) throw new Error(`no link or session ${id}`);
    return page;
  }

  #subject(psp: string): Subject {
    const subject = this.#subjects.get(psp);
    if (!subject) throw new Error(`nothing has the pspReference ${psp}`);
    return subject;
  }
}

type PaymentOrder = Pick<Page["request"], "reference" | "amount"> & Pick<Partial<Page["request"]>, "metadata">;

function isManual(order: PaymentOrder): boolean {
  if ("manualCapture" in order) return order.manualCapture === true;
  return "additionalData" in order && (order.additionalData as Record<string, string>).manualCapture === "true";
}

function metadataOf({ metadata = {} }: Page["request"]): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value]));
}

const newSecret = () => randomBytes(24).toString("base64");
const actionOf = ({ payment }: Subject) => (payment?.refunded ? "refund" : "cancel");
