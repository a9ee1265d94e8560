// A stand-in of Adyen Web 6 for the browser: a session's Card with fields in a frame of Adyen's host, and the rules that
// the library holds a page to. Of its look, wallets and 3-D Secure inside the page it has nothing.

/** By file name. */
export const webFiles: Readonly<Record<string, string>> = {
  "adyen.css": ".adyen-checkout__card { display: block; width: 100%; border: 0 }",
  "fields.html": `<!doctype html><title>Card fields of Adyen</title><form>
<label>Card number <input name="number"></label> <label>Expiry date <input name="expiry"></label>
<label>Security code <input name="cvc"></label> <label>Name on card <input name="holder"></label></form><script>
addEventListener("input", () => parent.postMessage(Object.fromEntries(new FormData(document.forms[0])), "*"));
</script>`,
  "adyen.js": `(() => {
const api = "https://checkoutshopper-test.adyen.com/checkoutshopper";
const store = "adyen-checkout__session"; // one name for all sessions, as in Adyen's library
const make = (name, members) => Object.assign(document.createElement(name), members);

class Checkout {
  constructor(options) {
    if (!options.countryCode) throw new Error("countryCode is required");
    if (options.clientKey.startsWith("test_") !== options.environment.startsWith("test")) throw new Error("clientKey");
    this.options = options;
    // The first sessionData would overwrite the newest one of a session that goes on.
    if (options.session.sessionData) localStorage.setItem(store, JSON.stringify(options.session));
  }
  async post(step, data, card) {
    const { session: { id }, clientKey, onError } = this.options;
    try {
      const { sessionData } = JSON.parse(localStorage.getItem(store) ?? "{}");
      const [headers, body] = [{ "content-type": "application/json" }, JSON.stringify({ sessionData, ...data })];
      const url = api + "/v1/sessions/" + id + "/" + step + "?clientKey=" + clientKey;
      const sent = await fetch(url, { method: "POST", headers, body });
      const answer = await sent.json();
      if (!sent.ok) throw new Error(answer.message);
      localStorage.setItem(store, JSON.stringify({ id, sessionData: answer.sessionData }));
      return answer;
    } catch (error) {
      card?.setStatus("ready");
      onError?.(error, card);
    }
  }
  async pay(step, data, card) {
    const { onPaymentCompleted, onPaymentFailed, setStatusAutomatically } = this.options;
    const answer = await this.post(step, data, card);
    if (!answer) return;
    if (answer.action) return location.assign(answer.action.url);
    const isPaid = ["Authorised", "Received", "Pending"].includes(answer.resultCode);
    if (setStatusAutomatically !== false) card?.setStatus(isPaid ? "success" : "error");
    (isPaid ? onPaymentCompleted : onPaymentFailed)?.(answer, card);
  }
  submitDetails(data) { this.pay("paymentDetails", data); }
}

class Card {
  status = "ready";
  fields = {};
  constructor(checkout, options = {}) {
    this.checkout = checkout;
    this.options = { ...checkout.options, ...options };
    this.frame = make("iframe", { src: api + "/fields.html", title: "Card", className: "adyen-checkout__card" });
    this.frame.addEventListener("load", () => this.options.onReady?.());
    addEventListener("message", ({ source, data }) => {
      if (source !== this.frame.contentWindow) return;
      this.fields = data;
      this.options.onChange?.({ isValid: this.isValid }, this);
    });
  }
  get isValid() { return /^[0-9 ]{15,}$/.test(this.fields.number ?? ""); }
  mount(place) {
    const button = make("button", { type: "button", textContent: "Pay at Adyen", onclick: () => this.submit() });
    const parts = this.options.showPayButton === false ? [this.frame] : [this.frame, button];
    (typeof place === "string" ? document.querySelector(place) : place).replaceChildren(...parts);
    return this;
  }
  submit() {
    if (this.status !== "ready" || !this.isValid) return;
    this.setStatus("loading");
    const { number, holder: holderName } = this.fields;
    const encryptedCardNumber = "test_" + number.replaceAll(" ", "");
    this.checkout.pay("payments", { paymentMethod: { type: "scheme", encryptedCardNumber, holderName } }, this);
  }
  setStatus(status) { this.status = status; }
  unmount() { this.frame.remove(); }
}

const AdyenCheckout = async (options) => {
  const checkout = new Checkout(options);
  await checkout.post("setup");
  return checkout;
};
globalThis.AdyenWeb = { AdyenCheckout, Card };
})();`,
};
