// The screens of one session: which one each state has. The SDK decides what is true; these only show it.
import type { CheckoutError, CheckoutHandle, HandleState, SessionView, TestCard } from "../sdk/contract.ts";
import type { PageTexts } from "../texts/page-texts.ts";
import { announce, guardLeaving, moveTo, page, showMessage, showOrder } from "./around.ts";
import { fillText, makeElement } from "./element.ts";
import { forgetSecret, isPaying, notePaying } from "./link.ts";
import { applyLook } from "./look.ts";
import { backLink, type MessageParts, message, retryButton } from "./message.ts";
import { paidScreen } from "./paid.ts";
import { type PayView, payView } from "./pay-view.ts";
import { summaryElement, support } from "./summary.ts";

const processingSlowMs = 15_000;
const processingLongMs = 60_000;

export interface ScreensParts {
  readonly handle: CheckoutHandle;
  readonly sessionId: string;
  readonly texts: PageTexts;
  readonly locale: string;
  readonly payNow: () => void;
  /** The session is there for the first time. */
  readonly onOpen: () => void;
}

export class Screens {
  readonly #parts: ScreensParts;
  #panel: HTMLElement | undefined;
  #pay: PayView | undefined;
  #screen: HTMLElement | undefined;
  #hasPaidHere: boolean;
  lastError: CheckoutError | undefined;

  constructor(parts: ScreensParts) {
    this.#parts = parts;
    this.#hasPaidHere = isPaying(parts.sessionId);
  }

  /** Somebody pressed Pay in this tab, perhaps before a reload. */
  get hasPaidHere(): boolean {
    return this.#hasPaidHere;
  }

  warn(text: string | undefined, isFocused = false): void {
    this.#pay?.warn(text, isFocused);
  }

  offer(cards: readonly TestCard[]): void {
    this.#pay?.offer(cards);
  }

  render(state: HandleState) {
    const { handle, sessionId, texts } = this.#parts;
    const { session } = handle;
    if (!session) return state === "failed" ? this.#showFailure(undefined) : undefined;
    if (!this.#panel) this.#open(session);
    guardLeaving(state === "submitting");
    switch (state) {
      case "submitting":
        this.#hasPaidHere = true;
        notePaying(sessionId, true);
        this.warn(undefined);
        announce(texts.submitting);
        return this.#showPay(session, state);
      case "idle":
      case "loading":
      case "ready":
      case "action_required":
        return this.#showPay(session, state);
      case "processing":
        return this.#showProcessing(session);
      case "succeeded":
        return this.#showPaid(session);
      case "expired":
        return this.#showEnd(session, state, texts.expiredTitle, texts.expiredText);
      case "canceled":
        return this.#showEnd(session, state, texts.canceledTitle, texts.canceledText);
      case "failed":
        return this.#showFailure(session);
    }
  }

  #open(session: SessionView): void {
    const { handle, texts, locale, onOpen } = this.#parts;
    onOpen();
    handle.setAppearance(applyLook(document.documentElement, session.branding));
    const { amount, merchant, livemode } = session;
    const testBar = document.getElementById("test-bar");
    if (testBar) testBar.hidden = livemode !== false;
    document.title = amount ? `${amount.formatted} · ${merchant.displayName}` : merchant.displayName;
    this.#panel = makeElement("section", { class: "panel" });
    page.replaceChildren(summaryElement(session, texts, locale), this.#panel);
  }

  #showPay(session: SessionView, state: HandleState): void {
    const { handle, texts, locale, payNow } = this.#parts;
    if (!this.#pay) {
      this.#pay = payView(session, texts, locale, { pay: payNow, fill: (number) => handle.fillTestCard(number) });
      this.#panel?.replaceChildren(this.#pay.element);
      void handle.mount(this.#pay.fields);
    }
    // The fields are never moved in the document: a frame that is moved loads anew and forgets what was typed.
    this.#screen?.remove();
    showOrder(true);
    this.#pay.element.hidden = false;
    this.#pay.show(state);
  }

  /** In place of the fields; they stay behind it where they may be needed again. */
  #tell(parts: MessageParts, keepsFields = false): HTMLElement {
    const panel = this.#panel;
    if (!panel) return showMessage(parts);
    this.#screen?.remove();
    const screen = message(parts);
    this.#screen = screen;
    showOrder(false); // the heading is the message now
    if (keepsFields && this.#pay) this.#pay.element.hidden = true;
    else panel.replaceChildren();
    panel.append(screen);
    moveTo(screen);
    return screen;
  }

  #showProcessing(session: SessionView): void {
    const { texts } = this.#parts;
    // The place for the fields is kept ready: the payment may come to nothing.
    if (!this.#pay) this.#showPay(session, "loading");
    const shown = this.#tell({ sign: "wait", title: texts.processingTitle, text: texts.processingText }, true);
    const say = (text: string) => {
      const paragraph = shown.querySelector(".message-text");
      if (paragraph) paragraph.textContent = text;
      announce(text);
    };
    setTimeout(() => shown.isConnected && say(texts.processingSlow), processingSlowMs);
    setTimeout(() => {
      if (!shown.isConnected) return;
      say(texts.processingLong);
      if (!session.payment) return;
      const [label, value] = [makeElement("dt", {}, texts.reference), makeElement("dd", {}, session.payment.id)];
      const facts = makeElement("dl", { class: "facts" }, makeElement("div", {}, label, value));
      shown.append(facts, support(session, texts) ?? "");
    }, processingLongMs);
  }

  #showPaid(session: SessionView): void {
    const { sessionId, texts, locale } = this.#parts;
    forgetSecret(sessionId, "succeeded");
    const paid = paidScreen(session, texts, locale, this.#hasPaidHere);
    showOrder(false);
    this.#panel?.replaceChildren(paid);
    moveTo(paid);
  }

  #showEnd(session: SessionView, state: "expired" | "canceled", title: string, text: string): void {
    const { sessionId, texts } = this.#parts;
    forgetSecret(sessionId, state);
    const merchant = session.merchant.displayName;
    const back = backLink(session, session.cancelUrl, session.status, fillText(texts.back, { merchant }));
    this.#tell({ sign: "attention", title, text: fillText(text, { merchant }), actions: [back] });
  }

  #showFailure(session: SessionView | undefined): void {
    const { texts } = this.#parts;
    const error = this.lastError;
    const actions = [retryButton(texts)];
    const note = error?.requestId ? makeElement("p", { class: "request-id", dir: "ltr" }, error.requestId) : undefined;
    const form: MessageParts = { sign: "attention", title: texts.formTitle, text: texts.formText, actions };
    switch (error?.code) {
      case "invalid_secret":
      case "api_key_in_browser":
        return void this.#tell({ sign: "attention", title: texts.invalidTitle, text: texts.invalidText });
      case "offline":
      case "timeout":
        return void this.#tell(
          session ? form : { sign: "attention", title: texts.offlineTitle, text: texts.offlineText, actions },
        );
      case "load_failed":
        return void this.#tell(form);
      case "unsupported_surface": {
        const text = fillText(texts.unavailableText, { merchant: session?.merchant.displayName ?? "" });
        return void this.#tell({ sign: "attention", title: texts.unavailableTitle, text });
      }
      default:
        return void this.#tell({ sign: "attention", title: texts.serverTitle, text: texts.serverText, actions, note });
    }
  }
}
