// After a redirect: what the address says, taken out of it. The merchant's own parameters and fragment stay as they
// were.
import type { ReturnResult } from "./contract.ts";
import { given } from "./members.ts";

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
  const read = (name: string) => url.searchParams.get(name) ?? undefined;
  const sessionId = read("session_id");
  const processorStatus = read("processor_status") ?? read("redirect_status");
  // `status` alone may be the merchant's own word.
  if (sessionId === undefined && processorStatus === undefined) return null;
  const status = read("status") ?? processorStatus;
  for (const name of names) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.href);
  return { ...given("sessionId", sessionId), ...given("status", status) };
}
