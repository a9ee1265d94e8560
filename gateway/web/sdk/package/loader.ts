// The npm package's loader: loads the served script once, with retries. Importing has no side effects; without a DOM
// the result is null. A failure is not cached, so the next call retries.
import type { CheckoutJs } from "../contract.ts";
import { onRefusal, trustedUrl, waitForReport } from "../page-policy.ts";

export interface LoadOptions {
  /**
   * URL of the script: `https://<your Tollbooth>/js/v1/checkout.js`, or `/js/<version>/checkout.js` with `integrity`.
   */
  readonly src: string;
  /** From `/js/manifest.json`, for a pinned version. */
  readonly integrity?: string;
  readonly nonce?: string;
  /** Limit of one attempt; default 8,000. */
  readonly timeoutMs?: number;
  /** Retries after the first attempt; default 2. */
  readonly retries?: number;
}

export type * from "../contract.ts";

let loading: Promise<CheckoutJs | null> | undefined;

/** The script's API; null without a DOM, or if it could not be loaded. Never rejects. */
export function loadCheckout(options: LoadOptions): Promise<CheckoutJs | null> {
  if (typeof document === "undefined") return Promise.resolve(null);
  loading ??= load(options).then((checkout) => {
    if (!checkout) loading = undefined;
    return checkout;
  });
  return loading;
}

async function load(options: LoadOptions): Promise<CheckoutJs | null> {
  const { src, retries = 2 } = options;
  let isRefused = false;
  const stopListening = onRefusal(/^script/, src, () => {
    isRefused = true;
  });
  try {
    for (let tries = 0; ; tries++) {
      const known: CheckoutJs | undefined = Reflect.get(globalThis, "Tollbooth");
      if (known) return known;
      if (tries > retries || isRefused) return null;
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
      await inject(options);
    }
  } catch (error) {
    console.error(error); // Trusted Types without our policy
    return null;
  } finally {
    stopListening();
  }
}

/** Resolves also on failure: the global that the script defines shows success. */
function inject({ src, integrity, nonce, timeoutMs = 8_000 }: LoadOptions): Promise<void> {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    const timer = setTimeout(end, timeoutMs, false);
    function end(isLoaded: boolean) {
      clearTimeout(timer);
      if (!isLoaded) script.remove();
      resolve();
    }
    script.onload = () => end(true);
    script.onerror = () => void waitForReport().then(() => end(false));
    script.crossOrigin = "anonymous"; // required by integrity
    if (integrity) script.integrity = integrity;
    if (nonce) script.nonce = nonce;
    script.src = trustedUrl(src, "tollbooth-loader");
    document.head.append(script);
  });
}
