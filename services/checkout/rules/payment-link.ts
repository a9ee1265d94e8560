// A payment link: what its buyers may pay, and how often. Pure. A use is a session that is paid or may still be paid;
// the end of an unpaid one frees it.
import type { Violation } from "#platform/values/failure.ts";
import { requestViolations, type SessionRequest } from "./session-request.ts";

export interface LinkOrder
  extends Pick<
    SessionRequest,
    "currency" | "description" | "orderReference" | "customerEmail" | "locale" | "lineItems"
  > {
  /** Minor units. Equal to the most: the amount is fixed. */
  readonly amountMin: bigint;
  readonly amountMax: bigint;
  readonly captureMethod: string;
  /** How many may be paid; undefined: any number. */
  readonly usesMax: number | undefined;
  readonly expiresAt: Date | undefined;
}

export interface LinkUses {
  readonly paid: number;
  /** Sessions that may still be paid. */
  readonly pending: number;
}

/** `busy`: all that is left is being paid. Only an `active` link takes another payment. */
export type LinkState = "active" | "closed" | "expired" | "sold_out" | "busy";

export function linkState(
  link: Pick<LinkOrder, "usesMax" | "expiresAt"> & { readonly status: "active" | "closed" },
  { paid, pending }: LinkUses,
  now: Date,
): LinkState {
  const { usesMax = Number.POSITIVE_INFINITY } = link;
  if (paid >= usesMax) return "sold_out";
  if (link.status === "closed") return "closed";
  if (link.expiresAt && link.expiresAt <= now) return "expired";
  return paid + pending >= usesMax ? "busy" : "active";
}

export function linkViolations(order: LinkOrder, now: Date): Violation[] {
  const { amountMin, amountMax, lineItems, customerEmail, usesMax, expiresAt } = order;
  const none = { metadata: {}, successUrl: "", cancelUrl: "", isSandbox: false };
  const found = requestViolations({ ...order, ...none, amount: amountMin });
  const check = (fits: boolean, field: string, problem: string) => {
    if (!fits) found.push({ field, problem });
  };
  check(amountMax >= amountMin, "amount_max", "must not be below amount_min");
  // Each opening of a link for one payment leads to the same session.
  check(usesMax !== 1 || amountMin === amountMax, "uses_max", "one payment needs a fixed amount");
  check(lineItems.length === 0 || amountMin === amountMax, "line_items", "need a fixed amount");
  check(customerEmail === "" || usesMax === 1, "customer_email", "needs a link for one payment");
  check(!expiresAt || expiresAt > now, "expires_at", "must be in the future");
  return found;
}
