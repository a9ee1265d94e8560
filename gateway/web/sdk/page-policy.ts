// Handles the page's own policies: requests refused by its Content-Security-Policy, which otherwise look like a network
// error, and script URLs for Trusted Types.
import type { CheckoutError } from "./contract.ts";
import { membersOf } from "./members.ts";

const eventMs = 100;

export type Refusal = Required<Pick<CheckoutError, "directive" | "host">>;

/**
 * Listens for refusals of a URL's host by the page's policy, and logs them to the console.
 * @param directives prefixes of the relevant directives
 * @returns stops listening
 */
export function onRefusal(directives: RegExp, address: string, listener: (refusal: Refusal) => void): () => void {
  const listen = (event: SecurityPolicyViolationEvent) => {
    const host = new URL(address, location.href).origin;
    const { blockedURI, effectiveDirective: directive, disposition } = event;
    // Browsers report the URL or only its origin.
    const isMeant = directives.test(directive) && `${blockedURI}/`.startsWith(`${host}/`);
    if (!isMeant || disposition === "report") return;
    console.error(`Tollbooth: Content-Security-Policy lacks ${directive} ${host}`);
    listener({ directive, host });
  };
  document.addEventListener("securitypolicyviolation", listen);
  return () => document.removeEventListener("securitypolicyviolation", listen);
}

/** Waits for a policy report, which may arrive just after the request has failed. */
export function waitForReport(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, eventMs));
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

let policy: ReturnType<PolicyFactory["createPolicy"]> | undefined;

/** @param name of the policy; a page can create each name only once, so each bundle has its own */
export function trustedUrl(src: string, name: string): string {
  const { trustedTypes }: { trustedTypes?: PolicyFactory } = membersOf(globalThis);
  try {
    policy ??= trustedTypes?.createPolicy(name, { createScriptURL: (url) => url });
  } catch {}
  return policy?.createScriptURL(src) ?? src;
}
