// Public types of the browser SDK. Every outcome is a value of a discriminated union: no method throws or rejects.
// `succeeded` means that the service has verified the payment with the processor; fulfil on the verified webhook.
import type { ErrorCode } from "./error-code.ts";
import type { Money } from "./money.ts";

export type { ErrorCode, Money };

/** The served script. */
export interface CheckoutJs {
  /** Exact version of the script. */
  readonly version: string;
  /** Creates a handle for one session, without network. A page may have any number of handles. */
  create(options: CreateOptions): CheckoutHandle;
  /**
   * After a redirect: reads the return parameters and removes them from the address bar. Null without parameters.
   */
  consumeReturn(): ReturnResult | null;
}

export interface CreateOptions {
  /** `cs_secret_…`, the only credential; it identifies the session. */
  readonly sessionSecret: string | (() => Promise<string>);
  /** Origin of the API; default: the script's origin. */
  readonly apiOrigin?: string;
  /** BCP 47 tag for money, texts and the processor's fields; default: the page's language. */
  readonly locale?: string;
  readonly appearance?: Appearance;
  /** Return URL of a redirect; default: this page without its fragment. */
  readonly returnUrl?: string;
  /** For script elements under a nonce policy. */
  readonly nonce?: string;
  /** Aborting it destroys the handle. */
  readonly signal?: AbortSignal;
  /**
   * Texts for buyers by error code, which replace ours in the language of `locale`. `unconfirmed` is for a decline by
   * 3-D Secure, `retype` for one after which the card is entered again.
   */
  readonly messages?: Readonly<Partial<Record<ErrorCode | "unconfirmed" | "retype", string>>>;
  /** Accessible name of the card fields; default "Card details", in the language of `locale`. */
  readonly title?: string;
}

/** One session on one page. Every method may be called at any time, any number of times. */
export interface CheckoutHandle {
  /** Reads the session. */
  load(): Promise<LoadResult>;
  /** Mounts the processor's fields into the element. The latest call wins; an unmount while loading cancels it. */
  mount(target: string | Element): Promise<LoadResult>;
  /** Removes the fields and their input. */
  unmount(): void;
  /** Ends requests, timers, listeners and fields permanently. */
  destroy(): void;
  /** Pays. A second call while one runs gets the same promise. */
  confirm(): Promise<ConfirmResult>;
  /** Reads the session again. */
  refresh(): Promise<LoadResult>;
  setAppearance(appearance: Appearance): void;
  focus(): void;
  /** Enters one of `testCards`; otherwise does nothing. */
  fillTestCard(number: string): void;
  readonly state: HandleState;
  readonly session: SessionView | null;
  /** The processor's test cards; empty outside its test mode. */
  readonly testCards: readonly TestCard[];
  /** Adds a listener. @returns removes it */
  on<K extends keyof Events>(event: K, listener: (data: Events[K]) => void): () => void;
}

/**
 * idle → loading → ready ⇄ submitting → action_required → processing → succeeded. A decline returns to `ready`.
 * `processing` means that the outcome is still unknown; the handle keeps polling. `failed` means that the session could
 * not be read or its surface not mounted; `load` or `mount` retries.
 */
export type HandleState =
  | "idle"
  | "loading"
  | "ready"
  | "submitting"
  | "action_required"
  | "processing"
  | "succeeded"
  | "expired"
  | "canceled"
  | "failed"
  | "destroyed";

export interface SessionView {
  readonly id: string;
  readonly status: "open" | "processing" | "completed" | "expired" | "canceled";
  /**
   * False: test mode, no money moves. This, amount and expiry are absent for an expired or canceled session.
   */
  readonly livemode?: boolean;
  readonly amount?: Money;
  readonly description?: string;
  /** Items of the order; absent if the merchant set none. */
  readonly lineItems?: readonly LineItem[];
  /** The seller and its terms; absent if the merchant set none. */
  readonly legal?: LegalView;
  /** RFC 3339. */
  readonly expiresAt?: string;
  readonly merchant: { readonly displayName: string; readonly supportEmail?: string };
  readonly branding: BrandingView;
  readonly surface: { readonly kind: "frame" | "element" | "redirect" | "none"; readonly connector: string };
  /** Present after the first attempt. */
  readonly payment?: { readonly id: string; readonly status: string };
  /** Card of a paid session. */
  readonly card?: { readonly brand: string; readonly last4: string };
  /** RFC 3339; when the session was paid. */
  readonly paidAt?: string;
  /** The merchant's own order number. */
  readonly reference?: string;
  /** `optional` or `required`: ask the buyer for an e-mail; absent if it is known or not wanted. */
  readonly emailField?: string;
  /** The processor's receipt page. */
  readonly receiptUrl?: string;
  /** Receipt page of a paid session; it opens nothing else. */
  readonly receiptPageUrl?: string;
  /** `available`: the receipt page can send the receipt to the session's e-mail. */
  readonly receiptEmail?: string;
  readonly successUrl?: string;
  readonly cancelUrl?: string;
  /** Return URL for a redirect: the hosted page with only the session's status. */
  readonly returnUrl?: string;
}

export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  /** Amount of the whole line; negative for a discount. All lines add up to the session's amount. */
  readonly amount: Money;
}

/** The seller; every field may be absent. */
export interface LegalView {
  /** Registered name. */
  readonly name?: string;
  readonly termsUrl?: string;
  readonly privacyUrl?: string;
}

/** A session that is open, processing or paid. */
export interface RunningSession extends SessionView {
  readonly status: "open" | "processing" | "completed";
  readonly livemode: boolean;
  readonly amount: Money;
  readonly expiresAt: string;
}

/** The merchant's branding; every field may be absent. Values as in the API reference. */
export interface BrandingView {
  readonly tagline?: string;
  readonly logoUrl?: string;
  readonly accentColor?: string;
  readonly secondaryColor?: string;
  readonly buttonStyle?: string;
  readonly backgroundStyle?: string;
  readonly theme?: string;
  readonly fontFamily?: string;
}

export type LoadResult =
  | { readonly ok: true; readonly session: SessionView }
  | { readonly ok: false; readonly error: CheckoutError };

export type ConfirmResult =
  | { readonly type: "succeeded"; readonly paymentId: string; readonly paymentStatus: string }
  /** Unknown: wait for the `succeeded` event or the webhook. Never ask the buyer to pay again. */
  | { readonly type: "processing"; readonly session: RunningSession }
  | { readonly type: "redirecting"; readonly url: string }
  | { readonly type: "canceled" }
  /** The attempt was declined; the session is still open. */
  | { readonly type: "declined"; readonly error: CheckoutError }
  | { readonly type: "error"; readonly error: CheckoutError };

export interface CheckoutError {
  readonly name: "CheckoutError";
  readonly type: "load" | "network" | "validation" | "declined" | "session" | "integration" | "server";
  readonly code: ErrorCode;
  /** Safe to show to the buyer. */
  readonly message: string;
  /** True if the same call may be repeated. */
  readonly retryable: boolean;
  /** Id of the request in the service's logs. */
  readonly requestId?: string;
  /**
   * Decline code such as `insufficient_funds`: of the API reference's failure table, or else the processor's own. Use
   * it to choose a text; do not show it.
   */
  readonly declineCode?: string;
  /** After a decline: new, empty fields of another processor are mounted, where the buyer enters the card again. */
  readonly fieldsReplaced?: true;
  /** For `secret_unavailable`: the error of `sessionSecret()`. For `load_failed`: the script's error, if known. */
  readonly cause?: unknown;
  /** For `csp_blocked`: the directive of the page's Content-Security-Policy that lacks `host`: `connect-src`, … */
  readonly directive?: string;
  /** For `csp_blocked`: the missing host, such as `https://pay.example`. */
  readonly host?: string;
  /** Advice after a decline: `retry_later`, `use_another_card`, `contact_issuer`, `do_not_retry`. */
  readonly advice?: string;
}

export interface Events {
  state: HandleState;
  /** The fields are usable. */
  ready: { readonly session: RunningSession };
  change: { readonly complete: boolean };
  /** The buyer pressed Enter in the fields. */
  submit_requested: Record<string, never>;
  /** The processor requires an action of the buyer, such as 3-D Secure. */
  action_required: { readonly kind: "challenge" | "redirect" };
  succeeded: { readonly paymentId: string };
  declined: CheckoutError;
  expired: Record<string, never>;
  error: CheckoutError;
  resize: { readonly height: number };
  /** False if the last request did not reach the API. */
  connection: { readonly online: boolean };
}

/** Appearance of the fields; a processor may ignore unsupported values. */
export interface Appearance {
  readonly theme?: "light" | "dark" | "auto";
  /** `#rrggbb`. */
  readonly accentColor?: string;
  readonly buttonStyle?: "rounded" | "pill" | "rectangular";
  /** True: the fields have their own Pay button; default: the page has one and calls `confirm`. */
  readonly payButton?: boolean;
}

/** A processor's test card for a case. */
export interface TestCard {
  readonly number: string;
  readonly label: string;
}

export interface ReturnResult {
  readonly sessionId?: string;
  /** Unverified: show it, never trust it. */
  readonly status?: string;
}
