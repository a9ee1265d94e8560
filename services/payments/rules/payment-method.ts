// The terms of payment methods, and the methods that a new payment offers (docs/processors.md).
import type { CaptureMethod } from "./payment.ts";

/** Terms of a method at a connector. */
export interface MethodTerms {
  readonly type: string;
  /** ISO 4217; empty: every one. */
  readonly currencies: readonly string[];
  /** `full`: only as a whole. */
  readonly refund: "full" | "partial" | "none";
  /** It may take days, and be returned after it succeeded. */
  readonly delayed: boolean;
  /** The buyer can dispute it. */
  readonly disputes: boolean;
  readonly manualCapture: boolean;
}

interface Order {
  readonly currency: string;
  readonly captureMethod: CaptureMethod;
}

interface Problem {
  readonly field: string;
  readonly problem: string;
}

type Offer = { readonly methods: readonly string[] } | { readonly problems: readonly Problem[] };

/**
 * The requested methods, or the account's that fit the order.
 * @param chosen by the merchant for the account. @param requested empty: automatic
 */
export function offerMethods(
  terms: readonly MethodTerms[],
  chosen: readonly string[],
  requested: readonly string[],
  order: Order,
): Offer {
  const problems = requested.flatMap((type, i) => {
    const problem = chosen.includes(type) ? misfit(terms, type, order) : "must be switched on for the account";
    return problem === undefined ? [] : [{ field: `payment_methods[${i}]`, problem }];
  });
  if (problems.length > 0) return { problems };
  const methods = requested.length > 0 ? requested : chosen.filter((type) => misfit(terms, type, order) === undefined);
  if (methods.length > 0) return { methods };
  return { problems: [{ field: "payment_methods", problem: "must have one that fits currency and capture_method" }] };
}

function misfit(terms: readonly MethodTerms[], type: string, { currency, captureMethod }: Order): string | undefined {
  const found = terms.find((each) => each.type === type);
  if (!found) return "must be a method of the connector";
  if (found.currencies.length > 0 && !found.currencies.includes(currency)) return "must be available in the currency";
  if (captureMethod === "manual" && !found.manualCapture) return "must be one that can be captured later";
  return undefined;
}

/** Why a refund of this amount is refused. @param terms undefined: of a method that the connector does not list */
export function refundMisfit(
  terms: MethodTerms | undefined,
  amount: bigint,
  capturedAmount: bigint,
): "not_refundable" | "only_whole" | undefined {
  if (terms?.refund === "none") return "not_refundable";
  return terms?.refund === "full" && amount !== capturedAmount ? "only_whole" : undefined;
}
