// Wallets: Stripe's Express Checkout Element above the card fields. It decides by itself which buttons the account and
// this device have, and none is drawn where there are none. What the buyer settles in a wallet's own sheet is one more
// press of Pay: the same attempt, so that card and wallet never pay twice. Source: Stripe.js reference,
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

/** The sheet waits until it is paid, or told that it will not be. */
interface ConfirmEvent {
  paymentFailed(): void;
}

/** What was settled in a sheet, and is not paid yet. */
export interface Press {
  readonly elements: unknown;
  readonly sheet: ConfirmEvent;
}

export interface WalletButtons {
  readonly mount: Wallets;
  /** What waits to be paid. */
  readonly pressed: Press | undefined;
  /** Ends the sheet of a press that nobody paid. */
  drop(press: Press | undefined): void;
}

/** @param mayPay whether Pay could be pressed now; says itself why not */
export function walletButtons(orByCard: string, mayPay: () => boolean): WalletButtons {
  let pressed: Press | undefined;
  let shown: HTMLElement | undefined;
  return {
    mount(stripe, options, fields, port) {
      const elements = stripe.elements(options) as ExpressElements;
      const element = elements.create("expressCheckout");
      const buttons = makeElement("div");
      // Kept out of sight and not out of the layout: what is not drawn cannot measure itself.
      const box = makeElement("div", { class: "wallets is-none" }, buttons, makeElement("p", {}, orByCard));
      // Stripe empties the place of the fields.
      fields.before(box);
      shown?.remove();
      shown = box;
      const show = (isThere: boolean) => box.classList.toggle("is-none", !isThere);
      element.on("ready", ({ availablePaymentMethods: found }) => show(Object.values(found ?? {}).includes(true)));
      element.on("loaderror", () => show(false));
      let isSettled = false;
      element.on("click", (event) => {
        isSettled = false;
        if (mayPay()) event.resolve();
        else event.reject();
      });
      element.on("confirm", (sheet) => {
        // A sheet is settled once; the card may be on its way since it opened.
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
