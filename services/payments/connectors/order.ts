// The orders of the port: requests to create, pay, capture, refund and search at a processor. Amounts are minor units.
import type { EvidenceContent } from "../rules/evidence.ts";
import type { CaptureMethod } from "../rules/payment.ts";

export interface IntentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly returnUrl: string;
  readonly surface: string;
  readonly captureMethod: CaptureMethod;
  /** Types of methods to offer; absent: an order of an earlier release, for which the processor decides. */
  readonly methods?: readonly string[];
  /** Lines that sum to the amount, or none. A processor that cannot show them does not get them. */
  readonly lineItems: readonly OrderLine[];
  /** Number of pages of the payment that ended before; absent: 0. */
  readonly renewal?: number;
}

export interface OrderLine {
  readonly name: string;
  readonly quantity: number;
  /** Of the whole line; negative for a discount. */
  readonly amount: bigint;
}

/** A payment to be made immediately, without the buyer. */
export interface PaymentOrder {
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  /** The processor's token of a stored card. */
  readonly paymentMethod: string;
  readonly captureMethod: CaptureMethod;
}

/** Captures an authorization, or a part, which releases the rest. */
export interface CaptureOrder {
  readonly intentRef: string;
  readonly amount: bigint;
  readonly currency: string;
}

export interface RefundOrder {
  readonly intentRef: string;
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly reason: string;
}

/** A file to be uploaded for evidence. */
export interface EvidenceUpload {
  /** Our id of the file. */
  readonly name: string;
  /** `application/pdf`, `image/jpeg` or `image/png`. */
  readonly type: string;
  readonly size: number;
  /** Its bytes in order; each call starts again. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** Evidence against a dispute. */
export interface EvidenceOrder {
  /** The dispute's id at the processor. */
  readonly disputeRef: string;
  /** Our id of the submission. */
  readonly reference: string;
  readonly texts: EvidenceContent["texts"];
  /** The processor's ids of uploaded files. */
  readonly files: EvidenceContent["files"];
  /** The same files; `name` is the id of one that the processor takes only with the evidence. */
  readonly uploads: readonly EvidenceUpload[];
}

/** A search by our reference. */
export interface IntentSearch {
  /** Our payment id. */
  readonly reference: string;
  /** As in its order. */
  readonly renewal?: number;
  readonly surface: string;
  /** A time of the processor's clock before the first try; undefined: unknown, so the search has no beginning. */
  readonly since?: Date | undefined;
  /** `resumeAfter` of an earlier answer; empty: from the newest on. */
  readonly after?: string;
}
