// The port to a card processor. A connector speaks one processor's API and answers in five ways; whatever it cannot prove is
// unknown, and unknown is never failed.
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { DisputeStatus } from "../rules/dispute.ts";
import type { IntentFact } from "../rules/payment.ts";
import type { RefundStatus } from "../rules/refund.ts";

/** A merchant's account at the processor, with what is needed to act on it. */
export interface Account {
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
}

/** What came of a call. `T` is what the processor then knows. */
export type Answer<T> =
  /** It is done. */
  | { readonly kind: "succeeded"; readonly value: T }
  /** It is accepted and will be decided later. */
  | { readonly kind: "pending"; readonly value: T }
  /** The processor refused for good. */
  | { readonly kind: "declined"; readonly code: DeclineCode; readonly message: string }
  /** It surely did not happen: never sent, or the processor has nothing under our reference. */
  | { readonly kind: "absent"; readonly cause: unknown }
  /**
   * It may have happened. `answered`: the processor gave a fault that it may have stored under our idempotency key and would
   * repeat for ever; otherwise no answer came.
   */
  | { readonly kind: "unknown"; readonly answered: boolean; readonly cause: unknown };

/** Refusals that flows tell apart; everything else is `refused`. */
export type DeclineCode =
  | "not_refundable"
  | "amount_too_large"
  | "not_cancelable"
  | "unknown_payment_method"
  | "refused";

/** What the processor knows about an intent. */
export interface IntentReport {
  readonly ref: string;
  /** Our payment id, as we gave it. */
  readonly reference: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  /** In the order in which they happened. */
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
}

export interface RefundReport {
  readonly ref: string;
  /** Our refund id; empty for one made at the processor's own dashboard. */
  readonly reference: string;
  readonly amount: bigint;
  readonly status: RefundStatus;
  readonly reason: string;
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly createdAt: Date;
}

export interface DisputeReport {
  readonly ref: string;
  readonly amount: bigint;
  readonly status: DisputeStatus;
  readonly reason: string;
  readonly openedAt: Date;
}

/** What the buyer's browser needs (CONTRACT.md §4). */
export interface Mount {
  readonly kind: "element" | "frame" | "redirect";
  readonly publishableKey: string;
  readonly clientSecret: string;
  readonly scriptUrl: string;
  readonly frameUrl: string;
  readonly redirectUrl: string;
}

export interface CreatedIntent {
  readonly report: IntentReport;
  readonly mount: Mount;
}

export interface IntentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly returnUrl: string;
  readonly surface: string;
}

/** A payment to be made at once, without the buyer. */
export interface PaymentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  /** The processor's token of a card that it has. */
  readonly paymentMethod: string;
}

export interface RefundOrder {
  readonly intentRef: string;
  readonly reference: string;
  readonly amount: bigint;
  readonly reason: string;
}

/** A processor's webhook after its signature was verified. */
export interface ProcessorEvent {
  readonly id: string;
  readonly type: string;
  /** undefined: a type that says nothing about an intent. */
  readonly report: IntentReport | undefined;
}

export interface Connector {
  readonly name: string;
  /** Creates an intent; the same key makes at most one. */
  createIntent(account: Account, order: IntentOrder, key: string): Promise<Answer<CreatedIntent>>;
  /**
   * Creates an intent and pays it at once with a payment method that the processor has; the same key makes at most one. What the
   * issuer says, also no, is a fact of the report; `declined` means that the processor refused the order and made nothing, for
   * example `unknown_payment_method`. A card that needs its buyer is a decline. `findIntent` finds what came of it.
   */
  payIntent(account: Account, order: PaymentOrder, key: string): Promise<Answer<IntentReport>>;
  /** Asks for the intent under our reference; `absent` proves that there is none. */
  findIntent(account: Account, reference: string, surface: string): Promise<Answer<CreatedIntent>>;
  /** Asks what became of an intent. */
  retrieveIntent(account: Account, ref: string): Promise<Answer<IntentReport>>;
  /** Cancels an unpaid intent; declined `not_cancelable` when it is paid or being paid. Harmless to repeat. */
  cancelIntent(account: Account, ref: string): Promise<Answer<IntentReport>>;
  /** Refunds; the same key makes at most one. */
  createRefund(account: Account, order: RefundOrder, key: string): Promise<Answer<RefundReport>>;
  /** Asks for the refund under our reference; `absent` proves that there is none. */
  findRefund(account: Account, reference: string): Promise<Answer<RefundReport>>;
  /** Verifies a webhook over its raw bytes. @throws Failure UNAUTHORIZED (signature), INVALID_BODY (content). */
  readEvent(account: Account, body: Uint8Array, headers: Readonly<Record<string, string>>): ProcessorEvent;
}
