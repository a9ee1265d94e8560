// After a redirect: what the address says, taken out of it. The merchant's own parameters and fragment stay as they
// were.
import type { ReturnResult } from "./contract.ts";

/** Ours, then the processors'. A processor's client secret in an address goes too. */
const names = [
  "session_id",
  "status",
  "processor_status",
  "redirect_status",
  "payment_intent",
  "payment_intent_client_secret",
];

/** Null when the address says nothing. */
export function consumeReturn(): ReturnResult | null {
  const url = new URL(location.href);
  const has = (name: string) => url.searchParams.has(name);
  // `status` alone may be the merchant's own word.
  if (!has("session_id") && !has("processor_status") && !has("redirect_status")) return null;
  const read = (name: string) => url.searchParams.get(name) ?? undefined;
  const sessionId = read("session_id");
  const status = read("status") ?? read("processor_status") ?? read("redirect_status");
  for (const name of names) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.href);
  return { ...(sessionId !== undefined && { sessionId }), ...(status !== undefined && { status }) };
}
