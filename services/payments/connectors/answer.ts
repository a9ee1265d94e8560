// A merchant's account at a processor, the five kinds of answers to a call, and those that every connector gives in the
// same way. Parts of the port (connector.ts).
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { CredentialProblem } from "./credential-forms.ts";

/** A merchant's account at the processor. */
export interface ProcessorAccount {
  /** `mco_…`. */
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
  readonly surface: string;
  /** Names are the connector's own. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly refundsEnabled: boolean;
  /** Types that the merchant has switched on; absent: cards. */
  readonly methods?: readonly string[];
  /** ISO 3166; absent or empty: not known. */
  readonly merchantCountry?: string;
}

/** The answer to a call, with the processor's object `T`. */
export type ProcessorAnswer<T> =
  | { readonly kind: "succeeded"; readonly value: T }
  /** Accepted, to be decided later. */
  | { readonly kind: "pending"; readonly value: T }
  /** Refused permanently. `credential`: the one that the processor rejects. */
  | {
      readonly kind: "declined";
      readonly code: DeclineCode;
      readonly message: string;
      readonly credential?: CredentialProblem;
    }
  /**
   * To a command: this call certainly did nothing, because it was not sent or our credentials were refused. It proves
   * nothing about other calls.
   */
  | { readonly kind: "not_sent"; readonly cause: unknown }
  /**
   * To a query: the processor has no such object, by an ordered and complete list. `at` is the processor's own time of
   * the answer; undefined: not reported. It proves nothing about a call that may still be under way.
   */
  | { readonly kind: "not_found"; readonly at: Date | undefined; readonly cause: unknown }
  /**
   * It may have happened: every 5xx, 408, 409, 425, 429, a broken connection and silence. `resumeAfter`: cursor of a
   * search that was too long for one call.
   */
  | { readonly kind: "unknown"; readonly cause: unknown; readonly resumeAfter?: string };

/** Answers with the processor's object. */
export type KnownAnswer<T> = Extract<ProcessorAnswer<T>, { readonly kind: "succeeded" | "pending" }>;

export function isKnown<A extends { readonly kind: string }>(
  answer: A,
): answer is Extract<A, { readonly kind: "succeeded" | "pending" }> {
  return answer.kind === "succeeded" || answer.kind === "pending";
}

/**
 * Refusals that flows distinguish; all others are `refused`. `amount_not_accepted` and `return_url_missing` are about
 * the order: the same order is never accepted.
 */
export type DeclineCode =
  | "currency_not_accepted"
  | "not_capturable"
  | "not_refundable"
  | "amount_too_large"
  | "not_cancelable"
  | "unknown_payment_method"
  | "not_answerable"
  | "evidence_not_accepted"
  | "amount_not_accepted"
  | "return_url_missing"
  | "refused";

/** A refusal that is known before anything is sent. */
export function declinedAnswer(code: DeclineCode, message: string): ProcessorAnswer<never> {
  return { kind: "declined", code, message };
}

/** A success with its value; an unreadable one proves nothing. */
export function understoodAnswer<T>(body: unknown, value: (body: unknown) => T): ProcessorAnswer<T> {
  try {
    return { kind: "succeeded", value: value(body) };
  } catch (cause) {
    return { kind: "unknown", cause };
  }
}
