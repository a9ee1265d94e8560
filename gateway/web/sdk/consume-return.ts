// Takes what a redirect added to the page's address: the session's status, and a processor's result, which its driver
// finishes the payment with.
import type { ReturnResult } from "./contract.ts";
import { optionalMember } from "./members.ts";

/** Our parameters, then the processors', including a client secret. */
const returnNames = [
  "session_id",
  "status",
  "processor_status",
  "redirect_status",
  "payment_intent",
  "payment_intent_client_secret",
];
/** Of Adyen. Also gone by an earlier call, while its driver has not asked for it. */
const redirectNames = ["redirectResult", "sessionId"] as const;
let redirect: readonly (string | undefined)[] = [];

/** Reads and removes a redirect's parameters from the URL. Null without parameters. */
export function consumeReturn(): ReturnResult | null {
  const { read, remove } = address();
  keepRedirect();
  const sessionId = read("session_id");
  const processorStatus = read("processor_status") ?? read("redirect_status");
  // `status` alone may be the merchant's own parameter.
  if (sessionId === undefined && processorStatus === undefined) return null;
  const status = read("status") ?? processorStatus;
  remove(returnNames);
  return { ...optionalMember("sessionId", sessionId), ...optionalMember("status", status) };
}

/** Takes the result in the return address, once. @param session at the processor; absent: of any */
export function takeRedirect(session?: string): string | undefined {
  keepRedirect();
  const [result, of] = redirect;
  if (session && of && of !== session) return undefined;
  redirect = [];
  return result;
}

function keepRedirect(): void {
  const { read, remove } = address();
  if (read("redirectResult") === undefined) return;
  redirect = redirectNames.map(read);
  remove(redirectNames);
}

function address() {
  const url = new URL(location.href);
  return {
    read: (name: string) => url.searchParams.get(name) ?? undefined,
    remove(names: readonly string[]) {
      const left = new URL(location.href);
      for (const name of names) left.searchParams.delete(name);
      history.replaceState(history.state, "", left.href);
    },
  };
}
