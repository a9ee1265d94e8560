// What the page's own Content-Security-Policy refuses. The browser tells the failed request no more than a dead network
// would, and the reason to the page: so whoever asks for an address listens.
import type { CheckoutError } from "../contract.ts";

const eventMs = 100;

export type Refusal = Required<Pick<CheckoutError, "directive" | "host">>;

/**
 * Hears that the policy keeps the browser from the host of an address, and says so in the console.
 * @param directives the beginning of those that are meant
 * @returns ends it
 */
export function onRefusal(directives: RegExp, address: string, hear: (refusal: Refusal) => void): () => void {
  const listen = (event: SecurityPolicyViolationEvent) => {
    const host = new URL(address, location.href).origin;
    const { blockedURI, effectiveDirective: directive, disposition } = event;
    // Some browsers tell the address, some its origin alone.
    const isMeant = directives.test(directive) && `${blockedURI}/`.startsWith(`${host}/`);
    if (!isMeant || disposition === "report") return;
    console.error(`Tollbooth: Content-Security-Policy lacks ${directive} ${host}`);
    hear({ directive, host });
  };
  document.addEventListener("securitypolicyviolation", listen);
  return () => document.removeEventListener("securitypolicyviolation", listen);
}

/** Until the browser has told what was refused: it does so just before or after the request has failed. */
export function refusalTold(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, eventMs));
}
