// `<tollbooth-checkout>`: the fields of one session as a custom element, with the SDK's events. It destroys its handle
// when it is disconnected or gets another secret, and creates a new one when it is connected again.
import {
  type CheckoutError,
  type CheckoutHandle,
  type ConfirmResult,
  type CreateOptions,
  type Events,
  loadCheckout,
} from "./loader.ts";

const events: readonly (keyof Events)[] = [
  "state",
  "ready",
  "change",
  "submit_requested",
  "action_required",
  "succeeded",
  "declined",
  "expired",
  "error",
  "resize",
  "connection",
];

// On a server there are no elements, and the module does nothing.
const Base = typeof HTMLElement === "undefined" ? (class {} as typeof HTMLElement) : HTMLElement;

/** Attributes: `session-secret`, `src`, `integrity`, `nonce`. Events: the handle's, with their data in `detail`. */
export class TollboothCheckout extends Base {
  static readonly observedAttributes = ["session-secret", "src"];
  /** Further options of `create`; read when the fields are created. */
  options: Omit<CreateOptions, "sessionSecret"> = {};
  #secret: CreateOptions["sessionSecret"] | undefined;
  #handle: CheckoutHandle | undefined;
  #life = new AbortController();

  /** The property's value or else the attribute's: a secret, or a function that fetches one. */
  get sessionSecret(): CreateOptions["sessionSecret"] | undefined {
    return this.#secret ?? this.getAttribute("session-secret") ?? undefined;
  }

  set sessionSecret(secret: CreateOptions["sessionSecret"] | undefined) {
    if (secret === this.#secret) return;
    this.#secret = secret;
    this.#begin();
  }

  /** Handle of the current session; undefined until the SDK is loaded. */
  get handle(): CheckoutHandle | undefined {
    return this.#handle;
  }

  async confirm(): Promise<ConfirmResult> {
    return (await this.#handle?.confirm()) ?? { type: "error", error: failure("integration", "not_mounted") };
  }

  connectedCallback(): void {
    this.style.display ||= "block";
    this.#begin();
  }

  disconnectedCallback(): void {
    this.#begin();
  }

  attributeChangedCallback(): void {
    this.#begin();
  }

  #begin(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#handle = undefined;
    // Coalesces several changes at once.
    queueMicrotask(this.#show.bind(this, this.#life.signal));
  }

  async #show(signal: AbortSignal): Promise<void> {
    const { sessionSecret } = this;
    if (signal.aborted || !this.isConnected || !sessionSecret) return;
    const { nonce, options } = this;
    // The default script is in the same folder. Not `new URL`, which bundlers treat as their own file.
    const src = this.getAttribute("src") ?? String(import.meta.url).replace(/[^/]*$/, "checkout.js");
    const integrity = this.getAttribute("integrity");
    const checkout = await loadCheckout({ src, ...(integrity && { integrity }), ...(nonce && { nonce }) });
    if (signal.aborted) return;
    if (!checkout) return this.#emit("error", failure("load", "load_failed"));
    const handle = checkout.create({ ...(nonce && { nonce }), ...options, sessionSecret, signal });
    for (const event of events) handle.on(event, (data) => this.#emit(event, data));
    this.#handle = handle;
    await handle.mount(this);
  }

  #emit(event: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }
}

function failure(type: CheckoutError["type"], code: CheckoutError["code"]): CheckoutError {
  const message = "The payment form could not be loaded. Please try again.";
  return { name: "CheckoutError", type, code, message, retryable: true };
}

declare global {
  interface HTMLElementTagNameMap {
    "tollbooth-checkout": TollboothCheckout;
  }
}

if (typeof customElements !== "undefined" && !customElements.get("tollbooth-checkout"))
  customElements.define("tollbooth-checkout", TollboothCheckout);
