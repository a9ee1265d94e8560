// The API of the served script, classic or module.
import type { CheckoutJs, ReturnResult } from "./contract.ts";
import { readTexts } from "./error-messages.ts";
import { createHandle } from "./handle/handle.ts";
import { optionalMember } from "./members.ts";

declare const TOLLBOOTH_VERSION: string; // set by the build

/** @param src URL of the script; its origin is the API's default origin */
export function checkoutJs(src: string): CheckoutJs {
  const { origin } = new URL(src);
  return { version: TOLLBOOTH_VERSION, create: (options) => createHandle(options, origin, readTexts), consumeReturn };
}

/** Our parameters, then the processors', including a client secret. */
const returnNames = [
  "session_id",
  "status",
  "processor_status",
  "redirect_status",
  "payment_intent",
  "payment_intent_client_secret",
];

/** Reads and removes a redirect's parameters from the URL. Null without parameters. */
export function consumeReturn(): ReturnResult | null {
  const url = new URL(location.href);
  const read = (name: string) => url.searchParams.get(name) ?? undefined;
  const sessionId = read("session_id");
  const processorStatus = read("processor_status") ?? read("redirect_status");
  // `status` alone may be the merchant's own parameter.
  if (sessionId === undefined && processorStatus === undefined) return null;
  const status = read("status") ?? processorStatus;
  for (const name of returnNames) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.href);
  return { ...optionalMember("sessionId", sessionId), ...optionalMember("status", status) };
}
