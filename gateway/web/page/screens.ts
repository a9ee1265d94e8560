// Shows the screen of each state of a session. The SDK decides the state.

import type { PageTexts } from "../languages.ts";
import type { CheckoutError, CheckoutHandle, HandleState, SessionView, TestCard } from "../sdk/contract.ts";
import { referenceOf } from "../session-link.ts";
import { announce, guardLeaving, moveTo, page, putMessageFirst } from "./around.ts";
import { appearanceOf, applyBranding } from "./branding.ts";
import { fillText, makeElement } from "./element.ts";
import { type EmailField, emailField, type SaveEmail } from "./email-field.ts";
import { forgetSecret, isPaying, keepReturnUrl, markPaying, readReturnUrl } from "./link.ts";
import { backLink, failureMessage, type MessageParts, message } from "./messages/message.ts";
import { paidScreen } from "./messages/paid.ts";
import { foot, type PayView, payView } from "./pay-view.ts";
import { merchantElement, orderElement } from "./summary.ts";

const processingSlowMs = 15_000;
const processingLongMs = 60_000;
const checkMs = 12_000; // a slow card takes six seconds, and its event a moment more

export interface ScreensParts {
  readonly handle: CheckoutHandle;
  readonly sessionId: string;
  readonly texts: PageTexts;
  readonly locale: string;
  /** URL of the style sheet without branding. */
  readonly style: string;
  readonly payNow: () => void;
  readonly saveEmail: SaveEmail;
  /** Shares the link; shown while the session can be paid. */
  readonly more: HTMLElement;
  /** Shows a message before the session is loaded. */
  readonly showAlone: (parts: MessageParts) => void;
  /** Merchant's name, if the server knew it. */
  readonly shopName: string | undefined;
}

export class Screens {
  readonly #parts: ScreensParts;
  #panel: HTMLElement | undefined;
  #content = makeElement("div", { class: "place" });
  #pay: PayView | undefined;
  #email: EmailField | undefined;
  #screen: HTMLElement | undefined;
  #hasPaidHere: boolean;
  /** After a reload during a payment: paying is blocked until the result is known. */
  #isChecking: boolean;
  #isComplete = false;
  #before: HandleState = "idle";
  lastError: CheckoutError | undefined;

  constructor(parts: ScreensParts) {
    this.#parts = parts;
    this.#hasPaidHere = isPaying(parts.sessionId);
    this.#isChecking = this.#hasPaidHere;
  }

  /** Pay was pressed in this tab, perhaps before a reload. */
  get hasPaidHere(): boolean {
    return this.#hasPaidHere;
  }

  get email(): EmailField | undefined {
    return this.#email;
  }

  warn(text: string | undefined, isFocused = false): void {
    this.#pay?.warn(text, isFocused);
  }

  offer(cards: readonly TestCard[]): void {
    this.#pay?.offer(cards);
  }

  setComplete(isComplete: boolean): void {
    this.#isComplete = isComplete;
  }

  render(state: HandleState) {
    const { handle, sessionId, texts } = this.#parts;
    const { session } = handle;
    const before = this.#before;
    this.#before = state;
    if (!session) return state === "failed" ? this.#showFailure(undefined) : undefined;
    if (!this.#panel) this.#open(session);
    guardLeaving(state === "submitting");
    this.#parts.more.hidden = this.#isChecking || !["ready", "loading", "failed"].includes(state);
    switch (state) {
      case "submitting":
        this.#hasPaidHere = true;
        markPaying(sessionId, true);
        this.warn(undefined);
        // Incomplete fields send nothing and show their own message.
        if (this.#isComplete) announce(texts.submitting);
        return this.#showPay(session, state);
      case "idle":
      case "loading":
      case "ready":
        if (before === "submitting") announce("");
        return this.#isChecking ? this.#showChecking(session, state) : this.#showPay(session, state);
      case "action_required":
        return this.#showPay(session, state);
      case "processing":
        return this.#showProcessing(session);
      case "succeeded":
        return this.#showPaid(session);
      case "expired":
        return this.#showEnd(session, state, texts.expiredTitle, texts.expiredText);
      case "canceled": {
        const isTried = before === "submitting" || before === "action_required";
        return this.#showEnd(
          session,
          state,
          texts.canceledTitle,
          isTried ? texts.canceledDeclines : texts.canceledText,
        );
      }
      case "failed":
        return this.#showFailure(session);
    }
  }

  #open(session: SessionView): void {
    const { handle, texts, locale, style, more, sessionId } = this.#parts;
    applyBranding(style, session.branding);
    handle.setAppearance(appearanceOf(session.branding));
    const { amount, merchant, livemode, cancelUrl } = session;
    if (cancelUrl) keepReturnUrl(sessionId, cancelUrl);
    const testBar = document.getElementById("test-bar");
    if (testBar) testBar.hidden = livemode !== false;
    document.title = amount ? `${amount.formatted} · ${merchant.displayName}` : merchant.displayName;
    this.#panel = makeElement(
      "section",
      { class: "panel" },
      this.#content,
      foot(session, merchant.supportEmail, texts),
    );
    page.replaceChildren(merchantElement(session), orderElement(session, texts, locale), this.#panel, more);
  }

  #showPay(session: SessionView, state: HandleState): void {
    this.#isChecking &&= state !== "action_required";
    this.#screen?.remove();
    putMessageFirst(false);
    const pay = this.#fields(session);
    pay.element.hidden = false;
    pay.show(state); // also shows the test cards where useful
  }

  /** Never move the fields in the document: a moved frame reloads and loses its input. */
  #fields(session: SessionView): PayView {
    const { handle, texts, locale, payNow, saveEmail } = this.#parts;
    if (this.#pay) return this.#pay;
    this.#email = session.emailField ? emailField(session.emailField, texts, saveEmail) : undefined;
    const actions = { pay: payNow, fill: (number: string) => handle.fillTestCard(number) };
    this.#pay = payView(session, texts, locale, actions, this.#email?.element);
    this.#content.replaceChildren(this.#pay.element);
    this.#panel?.append(this.#pay.cards);
    void handle.mount(this.#pay.fields);
    return this.#pay;
  }

  /** Replaces the fields. @param keepsFields hide them instead of removing them */
  #showMessage(parts: MessageParts, keepsFields = false): HTMLElement {
    this.#screen?.remove();
    const screen = message(parts);
    this.#screen = screen;
    putMessageFirst(true);
    if (this.#pay) this.#pay.cards.hidden = true;
    if (keepsFields && this.#pay) this.#pay.element.hidden = true;
    else this.#content.replaceChildren();
    this.#content.append(screen);
    moveTo(screen);
    return screen;
  }

  #showChecking(session: SessionView, state: HandleState): void {
    const { handle, texts } = this.#parts;
    const pay = this.#fields(session);
    pay.show(state);
    pay.cards.hidden = true;
    if (this.#screen?.isConnected) return;
    this.#showMessage({ ...this.#waiting(session), title: texts.checkTitle, text: texts.checkText }, true);
    setTimeout(() => {
      if (!this.#isChecking) return;
      this.#isChecking = false;
      this.render(handle.state);
      if (handle.state === "ready") this.warn(texts.checked, true);
    }, checkMs);
  }

  #showProcessing(session: SessionView): void {
    const { texts } = this.#parts;
    this.#isChecking = false;
    // The fields stay loaded, since the payment may fail.
    this.#fields(session).show("loading");
    const parts = { ...this.#waiting(session), title: texts.processingTitle, text: texts.processingText };
    const shown = this.#showMessage(parts, true);
    announce("");
    const showText = (text: string) => {
      const paragraph = shown.isConnected && shown.querySelector(".message-text");
      if (!paragraph) return;
      paragraph.textContent = text;
      announce(text);
    };
    setTimeout(() => showText(texts.processingSlow), processingSlowMs);
    setTimeout(() => showText(texts.processingLong), processingLongMs);
  }

  /** The result is unknown; the link returns to the shop with status `processing`. */
  #waiting(session: SessionView): Pick<MessageParts, "sign" | "facts" | "actions"> {
    const { successUrl, cancelUrl } = session;
    return {
      sign: "wait",
      facts: this.#reference(session),
      actions: [backLink(session, successUrl ?? cancelUrl, "processing", this.#backText(session), false)],
    };
  }

  #reference(session: SessionView): NonNullable<MessageParts["facts"]> {
    return [[this.#parts.texts.reference, referenceOf(session)]];
  }

  #backText({ merchant }: SessionView): string {
    return fillText(this.#parts.texts.back, { merchant: merchant.displayName });
  }

  #showPaid(session: SessionView): void {
    const { sessionId, texts, locale } = this.#parts;
    forgetSecret(sessionId, "succeeded");
    if (session.receiptPageUrl) {
      const { pathname, search } = new URL(session.receiptPageUrl);
      // A payment of earlier may be refunded, which the receipt page knows.
      if (!this.#hasPaidHere) {
        location.replace(pathname + search);
        return;
      }
      // Reloads, the back button and other devices get the receipt.
      history.replaceState(history.state, "", pathname + search);
    }
    const paid = paidScreen(session, texts, locale, this.#hasPaidHere);
    putMessageFirst(true);
    announce("");
    this.#pay?.cards.remove();
    this.#content.replaceChildren(paid);
    moveTo(paid);
  }

  #showEnd(session: SessionView, state: "expired" | "canceled", title: string, text: string): void {
    const { sessionId } = this.#parts;
    forgetSecret(sessionId, state);
    announce("");
    const back = backLink(session, readReturnUrl(sessionId), session.status, this.#backText(session));
    const explanation = fillText(text, { merchant: session.merchant.displayName });
    this.#showMessage({
      sign: "attention",
      title,
      text: explanation,
      facts: this.#reference(session),
      actions: [back],
    });
  }

  #showFailure(session: SessionView | undefined): void {
    const { texts, sessionId, showAlone, shopName: name } = this.#parts;
    const shop = { sessionId, name, address: readReturnUrl(sessionId) };
    const parts = failureMessage(this.lastError, session, shop, texts);
    if (session) this.#showMessage(parts);
    else showAlone(parts);
  }
}
