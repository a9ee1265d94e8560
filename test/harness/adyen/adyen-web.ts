// A stand-in of Adyen Web 6 for the browser: a session's Card with fields in a frame of Adyen's host, and the rules
// that the library holds a page to. Of its look, wallets and 3-D Secure inside the page it has nothing.

/** By file name. */
export const webFiles: Readonly<Record<string, string>> = {
  "adyen.css": ".adyen-checkout__card { display: block; width: 100%; border: 0 }",
  "fields.html": `<!doctype html><title>Card fields of Adyen</title><form>
<label>Card number <input name="number"></label> <label>Name on card <input name="holder"></label></form><script>
addEventListener("input", () => parent.postMessage(Object.fromEntries(new FormData(document.forms[0])), "*"));
</script>`,
  "adyen.js": `(() => {
const api = "https://checkoutshopper-test.adyen.com/checkoutshopper";
const store = "adyen-checkout__session"; // one name for all sessions, as in Adyen's library

class Checkout {
  constructor(options) {
    const { countryCode, clientKey, environment, session } = this.options = options;
    if (!countryCode) throw new Error("countryCode is required");
    if (clientKey.startsWith("test_") !== environment.startsWith("test")) throw new Error("clientKey of another kind");
    // The first sessionData would overwrite the newest one of a session that goes on.
    if (session.sessionData) localStorage.setItem(store, JSON.stringify(session));
  }
  async post(step, data, card) {
    const { session: { id }, clientKey, onError } = this.options;
    try {
      const { sessionData } = JSON.parse(localStorage.getItem(store) ?? "{}");
      const sent = await fetch(api + "/v1/sessions/" + id + "/" + step + "?clientKey=" + clientKey, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ sessionData, ...data }) });
      const answer = await sent.json();
      if (!sent.ok) throw Object.assign(new Error(answer.message), { options: { code: answer.errorCode } });
      localStorage.setItem(store, JSON.stringify({ id, sessionData: answer.sessionData }));
      return answer;
    } catch (error) {
      card?.setStatus("ready");
      onError?.(error, card);
      return error;
    }
  }
  async pay(step, data, card) {
    const { onPaymentCompleted, onPaymentFailed, setStatusAutomatically } = this.options;
    const answer = await this.post(step, data, card);
    if (answer.action) return card.redirect(answer.action);
    const isPaid = ["Authorised", "Received", "Pending"].includes(answer.resultCode);
    if (setStatusAutomatically !== false) card?.setStatus(isPaid ? "success" : "error");
    (isPaid ? onPaymentCompleted : onPaymentFailed)?.(answer, card);
  }
  submitDetails(data) { this.pay("paymentDetails", data); }
}

class Card {
  status = "ready";
  fields = {};
  frame = Object.assign(document.createElement("iframe"), { src: api + "/fields.html", className: "adyen-checkout__card" });
  constructor(checkout, options = {}) {
    const { onReady, onChange, showPayButton, beforeRedirect } = { ...checkout.options, ...options };
    Object.assign(this, { checkout, showPayButton, beforeRedirect });
    this.frame.addEventListener("load", () => onReady?.());
    addEventListener("message", ({ source, data }) => {
      if (source !== this.frame.contentWindow) return;
      Object.assign(this, { fields: data, isValid: /^[0-9 ]{15,}$/.test(data.number) });
      onChange?.({ isValid: this.isValid }, this);
    });
  }
  mount(place) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Pay at Adyen" });
    button.addEventListener("click", () => this.submit());
    const container = typeof place === "string" ? document.querySelector(place) : place;
    container.replaceChildren(this.frame, ...(this.showPayButton === false ? [] : [button]));
    return this;
  }
  submit() {
    if (this.status !== "ready" || !this.isValid) return;
    this.setStatus("loading");
    const encryptedCardNumber = "test_" + this.fields.number.replaceAll(" ", "");
    const paymentMethod = { type: "scheme", encryptedCardNumber, holderName: this.fields.holder };
    this.checkout.pay("payments", { paymentMethod }, this);
  }
  // The redirect takes the place of the fields.
  redirect(action) {
    this.unmount();
    new Promise((resolve, reject) => (this.beforeRedirect ?? ((go) => go()))(resolve, reject, action))
      .then(() => location.assign(action.url));
  }
  setStatus(status) { this.status = status; }
  unmount() { this.frame.remove(); }
}

const AdyenCheckout = async (options, checkout = new Checkout(options)) => (await checkout.post("setup"), checkout);
globalThis.AdyenWeb = { AdyenCheckout, Card };
})();`,
};
