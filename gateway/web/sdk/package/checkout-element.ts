// `<tollbooth-checkout>`: the fields of one session as an element of the page, with the SDK's events as its own. It
// ends its handle when it leaves the page or gets another secret, and begins anew when it comes back.
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

// A server that renders the page has no elements; there the module does nothing.
const Base = typeof HTMLElement === "undefined" ? (class {} as typeof HTMLElement) : HTMLElement;

/** Attributes: `session-secret`, `src`, `integrity`, `nonce`. Events: the handle's, each with its data as `detail`. */
export class TollboothCheckout extends Base {
  static readonly observedAttributes = ["session-secret", "src"];
  /** What else `create` takes; read when the fields are made. */
  options: Omit<CreateOptions, "sessionSecret"> = {};
  #secret: CreateOptions["sessionSecret"] | undefined;
  #handle: CheckoutHandle | undefined;
  #life = new AbortController();

  /** The attribute's, or what was put here: a text, or a function that fetches one. */
  get sessionSecret(): CreateOptions["sessionSecret"] | undefined {
    return this.#secret ?? this.getAttribute("session-secret") ?? undefined;
  }

  set sessionSecret(secret: CreateOptions["sessionSecret"] | undefined) {
    if (secret === this.#secret) return;
    this.#secret = secret;
    this.#begin();
  }

  /** Of the session that is shown; undefined before the SDK is there. */
  get handle(): CheckoutHandle | undefined {
    return this.#handle;
  }

  /** Pays, as the handle does. */
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
    // Whoever sets several things at once means the last of them.
    queueMicrotask(this.#show.bind(this, this.#life.signal));
  }

  async #show(signal: AbortSignal): Promise<void> {
    const { sessionSecret } = this;
    if (signal.aborted || !this.isConnected || !sessionSecret) return;
    const { nonce, options } = this;
    // Served by a Tollbooth it stands beside the script. Not as `new URL`, which bundlers take for a file of theirs.
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
