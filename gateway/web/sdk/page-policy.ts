// The page's own policies: requests that its Content-Security-Policy refuses, which look like a dead network to the
// caller, and script addresses as Trusted Types wants them.
import type { CheckoutError } from "./contract.ts";
import { membersOf } from "./members.ts";

const eventMs = 100;

export type Refusal = Required<Pick<CheckoutError, "directive" | "host">>;

/**
 * Hears that the policy keeps the browser from the host of an address, and says so in the console.
 * @param directives the beginning of those that are meant
 * @returns ends it
 */
export function onRefusal(directives: RegExp, address: string, listener: (refusal: Refusal) => void): () => void {
  const listen = (event: SecurityPolicyViolationEvent) => {
    const host = new URL(address, location.href).origin;
    const { blockedURI, effectiveDirective: directive, disposition } = event;
    // Some browsers tell the address, some its origin alone.
    const isMeant = directives.test(directive) && `${blockedURI}/`.startsWith(`${host}/`);
    if (!isMeant || disposition === "report") return;
    console.error(`Tollbooth: Content-Security-Policy lacks ${directive} ${host}`);
    listener({ directive, host });
  };
  document.addEventListener("securitypolicyviolation", listen);
  return () => document.removeEventListener("securitypolicyviolation", listen);
}

/** Until the browser has told what was refused: it does so just before or after the request has failed. */
export function waitForReport(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, eventMs));
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

let policy: ReturnType<PolicyFactory["createPolicy"]> | undefined;

/** @param name of the policy that makes it: a page makes one of a name once, and each bundle of ours has its own */
export function trustedUrl(src: string, name: string): string {
  const { trustedTypes }: { trustedTypes?: PolicyFactory } = membersOf(globalThis);
  try {
    policy ??= trustedTypes?.createPolicy(name, { createScriptURL: (url) => url });
  } catch {}
  return policy?.createScriptURL(src) ?? src;
}
