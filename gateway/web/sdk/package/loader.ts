// The npm package: loads the served script once, and tries again when it did not come. Importing it does nothing;
// without a DOM the answer is null. A failure is forgotten, so that the next call really tries.
import type { CheckoutJs } from "../contract.ts";
import { onRefusal, trustedUrl, waitForReport } from "../page-policy.ts";

export interface LoadOptions {
  /**
   * Address of the script: `https://<your Tollbooth>/js/v1/checkout.js`, or `/js/<version>/checkout.js` with
   * `integrity`.
   */
  readonly src: string;
  /** From `/js/manifest.json`, for a pinned version. */
  readonly integrity?: string;
  readonly nonce?: string;
  /** Of one try; default 8,000. */
  readonly timeoutMs?: number;
  /** After the first try; default 2. */
  readonly retries?: number;
}

export type * from "../contract.ts";

let loading: Promise<CheckoutJs | null> | undefined;

/** The script's API; null without a DOM, or when it could not be loaded. Never rejects. */
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
  const unhear = onRefusal(/^script/, src, () => {
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
    unhear();
  }
}

/** Resolves in any case that can be tried again: whether it worked shows by what the script defined. */
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
    script.crossOrigin = "anonymous"; // integrity needs it
    if (integrity) script.integrity = integrity;
    if (nonce) script.nonce = nonce;
    script.src = trustedUrl(src, "tollbooth-loader");
    document.head.append(script);
  });
}
