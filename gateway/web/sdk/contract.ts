// The public shapes of the browser SDK, as merchants compile against them. Every outcome is a value of a discriminated
// union: nothing here throws or rejects. `succeeded` is said only after the service has verified the payment with the
// processor; the durable word for fulfilment is the verified webhook all the same.
import type { ErrorCode } from "./error-code.ts";
import type { Money } from "./money.ts";

export type { ErrorCode, Money };

/** The served script. */
export interface CheckoutJs {
  /** Exact version of the served file. */
  readonly version: string;
  /** Makes a handle for one session; no network yet. Any number of handles may live on a page. */
  create(options: CreateOptions): CheckoutHandle;
  /**
   * After a redirect: reads what the return address says and strips it from the address bar. Null when there is
   * nothing.
   */
  consumeReturn(): ReturnResult | null;
}

export interface CreateOptions {
  /** `cs_secret_…`, the only credential: the session is found from it. */
  readonly sessionSecret: string | (() => Promise<string>);
  /** Origin of the API; default: where this script came from. */
  readonly apiOrigin?: string;
  /** BCP 47 tag for money, texts and the processor's fields; default: the page's language. */
  readonly locale?: string;
  readonly appearance?: Appearance;
  /** Where a redirect comes back to; default: this page without its fragment. */
  readonly returnUrl?: string;
  /** For script elements under a nonce policy. */
  readonly nonce?: string;
  /** Aborting it destroys the handle. */
  readonly signal?: AbortSignal;
  /**
   * Texts for buyers that replace ours, by error code; ours are of the language of `locale`, else English.
   * `unconfirmed` is for a decline by the bank's check of the buyer (3-D Secure).
   */
  readonly messages?: Readonly<Partial<Record<ErrorCode | "unconfirmed", string>>>;
  /** Accessible name of the card fields; default "Card details", in the language of `locale`. */
  readonly title?: string;
}

/** One session on one page. Every method may be called at any time, any number of times. */
export interface CheckoutHandle {
  /** Reads the session. */
  load(): Promise<LoadResult>;
  /** Puts the processor's fields into the element; the latest call wins, an unmount while loading cancels it. */
  mount(target: string | Element): Promise<LoadResult>;
  /** Takes the fields away; what was typed is gone. */
  unmount(): void;
  /** Ends requests, timers, listeners and fields for good. */
  destroy(): void;
  /** Pays. A second call while one runs gets the same promise. */
  confirm(): Promise<ConfirmResult>;
  /** Reads the session again. */
  refresh(): Promise<LoadResult>;
  setAppearance(appearance: Appearance): void;
  focus(): void;
  /** Types one of `testCards`; does nothing elsewhere. */
  fillTestCard(number: string): void;
  readonly state: HandleState;
  readonly session: SessionView | null;
  /** What the processor offers in its test mode; empty otherwise. */
  readonly testCards: readonly TestCard[];
  /** Listens; the answer stops it. */
  on<K extends keyof Events>(event: K, listener: (data: Events[K]) => void): () => void;
}

/**
 * idle → loading → ready ⇄ submitting → action_required → processing → succeeded. A decline goes back to `ready`;
 * `processing` means that the outcome is not known yet, and the handle keeps asking. `failed` says that the session
 * could not be read or its surface not mounted; `load` or `mount` tries again.
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
   * False: test mode, no money moves. This, amount and expiry are absent when an expired or canceled session is read.
   */
  readonly livemode?: boolean;
  readonly amount?: Money;
  readonly description?: string;
  /** What is bought; absent where the merchant does not say. */
  readonly lineItems?: readonly LineItem[];
  /** Who sells, and under which terms; absent where the merchant does not say. */
  readonly legal?: LegalView;
  /** RFC 3339. */
  readonly expiresAt?: string;
  readonly merchant: { readonly displayName: string; readonly supportEmail?: string };
  readonly branding: BrandingView;
  readonly surface: { readonly kind: "frame" | "element" | "redirect" | "none"; readonly connector: string };
  /** Present once an attempt was seen. */
  readonly payment?: { readonly id: string; readonly status: string };
  /** Of what is paid. */
  readonly card?: { readonly brand: string; readonly last4: string };
  /** RFC 3339; of what is paid. */
  readonly paidAt?: string;
  /** The merchant's own order number. */
  readonly reference?: string;
  /** `optional` or `required`: ask the buyer for an e-mail; absent: there is one, or nobody wants one. */
  readonly emailField?: string;
  readonly receiptUrl?: string;
  readonly successUrl?: string;
  readonly cancelUrl?: string;
  /** The hosted page as a redirect should open it: it shows how the session stands and nothing else. */
  readonly returnUrl?: string;
}

/** One line of what is bought. */
export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  /** Of the whole line; negative for a discount. All lines together are the session's amount. */
  readonly amount: Money;
}

/** The merchant as the seller; every field may be absent. */
export interface LegalView {
  /** Its registered name. */
  readonly name?: string;
  readonly termsUrl?: string;
  readonly privacyUrl?: string;
}

/** A session that is open, under way or paid. */
export interface RunningSession extends SessionView {
  readonly status: "open" | "processing" | "completed";
  readonly livemode: boolean;
  readonly amount: Money;
  readonly expiresAt: string;
}

/** The merchant's look; every field may be absent. Words as in the API reference. */
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
  /** Not known yet: wait for the `succeeded` event, or for the webhook. Never ask the buyer to pay again. */
  | { readonly type: "processing"; readonly session: RunningSession }
  | { readonly type: "redirecting"; readonly url: string }
  | { readonly type: "canceled" }
  /** The attempt was refused; the session is still open. */
  | { readonly type: "declined"; readonly error: CheckoutError }
  | { readonly type: "error"; readonly error: CheckoutError };

export interface CheckoutError {
  readonly name: "CheckoutError";
  readonly type: "load" | "network" | "validation" | "declined" | "session" | "integration" | "server";
  readonly code: ErrorCode;
  /** Safe to show to the buyer. */
  readonly message: string;
  /** True: the same call may be made again. */
  readonly retryable: boolean;
  /** Names the request in the service's logs. */
  readonly requestId?: string;
  /**
   * Why it was declined, such as `insufficient_funds`: a word of the API reference's failure table, or the processor's
   * own where the service could not say. For choosing a text, not for showing.
   */
  readonly declineCode?: string;
  /** Of `secret_unavailable`: what `sessionSecret()` threw. Of `load_failed`: what the script did, if that is known. */
  readonly cause?: unknown;
  /** Of `csp_blocked`: the directive of the page's Content-Security-Policy that lacks `host`, such as `connect-src`. */
  readonly directive?: string;
  /** Of `csp_blocked`: as a policy names it, such as `https://pay.example`. */
  readonly host?: string;
  /** What may help after a decline: `retry_later`, `use_another_card`, `contact_issuer`, `do_not_retry`. */
  readonly advice?: string;
}

export interface Events {
  state: HandleState;
  /** The fields can be used. */
  ready: { readonly session: RunningSession };
  change: { readonly complete: boolean };
  /** The buyer pressed Enter in the fields. */
  submit_requested: Record<string, never>;
  /** The processor's fields ask for more, such as the bank's 3-D Secure check. */
  action_required: { readonly kind: "challenge" | "redirect" };
  succeeded: { readonly paymentId: string };
  declined: CheckoutError;
  expired: Record<string, never>;
  error: CheckoutError;
  resize: { readonly height: number };
  /** False: the last request did not get through. */
  connection: { readonly online: boolean };
}

/** How the fields look; a processor may pass over what it cannot do. */
export interface Appearance {
  readonly theme?: "light" | "dark" | "auto";
  /** `#rrggbb`. */
  readonly accentColor?: string;
  readonly buttonStyle?: "rounded" | "pill" | "rectangular";
  /** True: the fields bring a Pay button of their own; default: the page has one and calls `confirm`. */
  readonly payButton?: boolean;
}

/** A card that plays a case, offered by a processor in its test mode. */
export interface TestCard {
  readonly number: string;
  readonly label: string;
}

/** What a return address said. */
export interface ReturnResult {
  readonly sessionId?: string;
  /** As the sender said it: show it, never trust it. */
  readonly status?: string;
}
