// The API of the served script, classic or module.
import { consumeReturn } from "./consume-return.ts";
import type { CheckoutJs } from "./contract.ts";
import { readTexts } from "./error-messages.ts";
import { createHandle } from "./handle/handle.ts";

declare const TOLLBOOTH_VERSION: string; // set by the build

/** @param src URL of the script; its origin is the API's default origin */
export function checkoutJs(src: string): CheckoutJs {
  const { origin } = new URL(src);
  return { version: TOLLBOOTH_VERSION, create: (options) => createHandle(options, origin, readTexts), consumeReturn };
}
