// The served script: as a classic script it defines `Tollbooth`, as a module it exports the same.
import type { CheckoutJs, ReturnResult } from "./contract.ts";
import { readTexts } from "./error-messages.ts";
import { createHandle } from "./handle/handle.ts";
import { optionalMember } from "./members.ts";

declare const TOLLBOOTH_VERSION: string; // put in by the build

/** @param src where the script came from: the API's origin, unless `create` is told otherwise */
export function checkoutJs(src: string): CheckoutJs {
  const { origin } = new URL(src);
  return { version: TOLLBOOTH_VERSION, create: (options) => createHandle(options, origin, readTexts), consumeReturn };
}

/** Ours, then the processors'. A processor's client secret in an address goes too. */
const returnNames = [
  "session_id",
  "status",
  "processor_status",
  "redirect_status",
  "payment_intent",
  "payment_intent_client_secret",
];

/** After a redirect: what the address says, taken out of it. Null when it says nothing. */
export function consumeReturn(): ReturnResult | null {
  const url = new URL(location.href);
  const read = (name: string) => url.searchParams.get(name) ?? undefined;
  const sessionId = read("session_id");
  const processorStatus = read("processor_status") ?? read("redirect_status");
  // `status` alone may be the merchant's own word.
  if (sessionId === undefined && processorStatus === undefined) return null;
  const status = read("status") ?? processorStatus;
  for (const name of returnNames) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.href);
  return { ...optionalMember("sessionId", sessionId), ...optionalMember("status", status) };
}
