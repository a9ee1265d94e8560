// The served script: as a classic script it defines `Tollbooth`, as a module it exports the same.
import { consumeReturn } from "./consume-return.ts";
import type { CheckoutJs } from "./contract.ts";
import { readTexts } from "./error-messages.ts";
import { createHandle } from "./handle/handle.ts";

declare const TOLLBOOTH_VERSION: string; // put in by the build

/** @param src where the script came from: the API's origin, unless `create` is told otherwise */
export function checkoutJs(src: string): CheckoutJs {
  const { origin } = new URL(src);
  return { version: TOLLBOOTH_VERSION, create: (options) => createHandle(options, origin, readTexts), consumeReturn };
}
