// A stand-in of Stripe.js for the hosted page, served at Stripe's own address: the Payment Element and the Express
// Checkout Element as far as the page uses them, with the rules that Stripe.js itself holds a page to. Of Stripe's look
// and frames it has nothing. The test puts two things into the page: `__wallets`, which ones there are, and `__pay`,
// which pays at the fake of Stripe's API.
export const fakeStripeJs = `
globalThis.Stripe = () => ({
  elements: ({ clientSecret }) => ({
    clientSecret,
    isConfirming: false,
    create(kind) {
      this.kind = kind;
      return kind === "payment" ? card() : wallet(this);
    },
    update() {},
  }),
  async confirmPayment({ elements }) {
    // Stripe.js refuses a wallet outside its confirm event.
    if (elements.kind === "expressCheckout" && !elements.isConfirming) throw new Error("not in a confirm event");
    elements.isConfirming = false;
    const { status, declineCode } = await __pay(elements.clientSecret, elements.kind);
    sheet("");
    const error = { type: "card_error", decline_code: declineCode, payment_intent: { status } };
    return declineCode ? { error } : { paymentIntent: { status } };
  },
});

function element(draw) {
  const listeners = {};
  return {
    listeners,
    on: (name, listener) => (listeners[name] = listener),
    mount(place) {
      place.replaceChildren(...draw());
      setTimeout(() => listeners.ready({ availablePaymentMethods: globalThis.__wallets }));
    },
    focus() {},
    destroy() {},
  };
}

const card = () => element(() => ["Card fields of Stripe"]);

function wallet(elements) {
  const made = element(() => (globalThis.__wallets ? [button("Wallet", press)] : []));
  const press = () => made.listeners.click({ resolve: open, reject: () => sheet("") });
  const open = () => {
    const settle = () => {
      elements.isConfirming = true;
      made.listeners.confirm({ expressPaymentType: "google_pay", paymentFailed });
    };
    sheet("open", button("Settle", settle), button("Close wallet", () => sheet("")));
  };
  const paymentFailed = () => {
    elements.isConfirming = false;
    sheet("failed");
  };
  return made;
}

function button(text, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  made.addEventListener("click", act);
  return made;
}

// The wallet's own sheet, which no page sees into.
function sheet(state, ...buttons) {
  document.getElementById("sheet")?.remove();
  if (state === "") return;
  const dialog = Object.assign(document.createElement("dialog"), { id: "sheet" });
  dialog.dataset.state = state;
  dialog.append(state, ...buttons);
  document.body.append(dialog);
  dialog.show();
}
`;
