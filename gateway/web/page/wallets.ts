// Shows Stripe's Express Checkout Element above the card fields. A confirmation in a wallet's sheet acts like a press
// of Pay, in the same attempt, so card and wallet never pay twice. Source: Stripe.js reference,
// elements.create("expressCheckout"), its events, and stripe.confirmPayment.
import type { Wallets } from "../sdk/surfaces/surface.ts";
import { makeElement } from "./element.ts";

interface ExpressElement {
  mount(container: HTMLElement): void;
  on(event: "ready", listener: (event: { readonly availablePaymentMethods?: object }) => void): void;
  on(event: "click", listener: (event: { resolve(): void; reject(): void }) => void): void;
  on(event: "confirm", listener: (event: ConfirmEvent) => void): void;
  on(event: "loaderror", listener: () => void): void;
}

interface ExpressElements {
  create(type: "expressCheckout"): ExpressElement;
}

/** The sheet waits until the payment succeeds or `paymentFailed` is called. */
interface ConfirmEvent {
  paymentFailed(): void;
}

/** A confirmed sheet that is not yet paid. */
export interface Press {
  readonly elements: unknown;
  readonly sheet: ConfirmEvent;
}

export interface WalletButtons {
  readonly mount: Wallets;
  readonly pressed: Press | undefined;
  /** Closes the sheet of an unpaid press. */
  drop(press: Press | undefined): void;
}

/** @param mayPay whether Pay is possible now; shows the reason if not */
export function walletButtons(orByCard: string, mayPay: () => boolean): WalletButtons {
  let pressed: Press | undefined;
  let shown: HTMLElement | undefined;
  return {
    mount(stripe, options, fields, port) {
      const elements = stripe.elements(options) as ExpressElements;
      const element = elements.create("expressCheckout");
      const buttons = makeElement("div");
      // Invisible but in the layout: an element without layout cannot measure itself.
      const box = makeElement("div", { class: "wallets is-none" }, buttons, makeElement("p", {}, orByCard));
      // Stripe empties the container of the fields.
      fields.before(box);
      shown?.remove();
      shown = box;
      const show = (isShown: boolean) => box.classList.toggle("is-none", !isShown);
      element.on("ready", ({ availablePaymentMethods: found }) => show(Object.values(found ?? {}).includes(true)));
      element.on("loaderror", () => show(false));
      let isSettled = false;
      element.on("click", (event) => {
        isSettled = false;
        if (mayPay()) event.resolve();
        else event.reject();
      });
      element.on("confirm", (sheet) => {
        // A sheet is confirmed once, and a card may have been sent since it opened.
        if (isSettled) return;
        isSettled = true;
        if (!mayPay()) return sheet.paymentFailed();
        pressed = { elements, sheet };
        port.submitRequested();
      });
      element.mount(buttons);
      return () => {
        const press = pressed;
        pressed = undefined;
        return press?.elements;
      };
    },
    get pressed() {
      return pressed;
    },
    drop(press) {
      if (!press || press !== pressed) return;
      pressed = undefined;
      press.sheet.paymentFailed();
    },
  };
}
