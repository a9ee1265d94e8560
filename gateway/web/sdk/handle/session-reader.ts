// The session's own API, once the page has told the session's secret. Nothing here throws.
import { type ApiAnswer, type CheckoutApi, checkoutApi, type Verdict } from "../api.ts";
import type { CheckoutError, CreateOptions } from "../contract.ts";
import type { Fail } from "../failure.ts";
import type { ReadSession } from "../session.ts";

const secretFormat = /^cs_secret_([0-9a-z]{26})_[A-Za-z0-9_-]{43}$/;

export class SessionReader implements CheckoutApi {
  readonly #options: CreateOptions;
  readonly #place: { readonly origin: string; readonly locale: string; readonly signal: AbortSignal };
  readonly #fail: Fail;
  #api: CheckoutApi | undefined;

  /** @param place.signal ends every request */
  constructor(
    options: CreateOptions,
    place: { readonly origin: string; readonly locale: string; readonly signal: AbortSignal },
    fail: Fail,
  ) {
    this.#options = options;
    this.#place = place;
    this.#fail = fail;
  }

  async resolve(): Promise<ApiAnswer<ReadSession>> {
    const api = await this.#open();
    return "code" in api ? { ok: false, error: api, retryAfterMs: 0 } : await api.resolve();
  }

  async confirm(): Promise<ApiAnswer<Verdict>> {
    const api = await this.#open();
    return "code" in api ? { ok: false, error: api, retryAfterMs: 0 } : await api.confirm();
  }

  async #open(): Promise<CheckoutApi | CheckoutError> {
    if (this.#api) return this.#api;
    const secret = await secretOf(this.#options);
    if (secret.startsWith("sk_")) {
      console.error("Tollbooth: an API key must never be in a browser. Use the session_secret, and roll that key now.");
      return this.#fail("api_key_in_browser");
    }
    const sessionId = secretFormat.exec(secret)?.[1];
    if (!sessionId) return this.#fail("invalid_secret");
    this.#api = checkoutApi({ ...this.#place, sessionId: `cs_${sessionId}`, secret, fail: this.#fail });
    return this.#api;
  }
}

async function secretOf({ sessionSecret }: CreateOptions): Promise<string> {
  try {
    return String(typeof sessionSecret === "function" ? await sessionSecret() : sessionSecret);
  } catch {
    return "";
  }
}
