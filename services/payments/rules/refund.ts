// The refund machine and the limit that keeps refunds within what was captured (docs/contract.md §5). Pure.
import type { Movement } from "./journal.ts";
import type { DisputeHold, Outcome } from "./payment.ts";

export type RefundStatus = "pending" | "succeeded" | "failed" | "canceled";

/** A refund as it stands, apart from whose it is. */
export interface Refund {
  readonly id: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly status: RefundStatus;
  /** Empty until the processor has it. */
  readonly connectorRef: string;
  readonly reason: string;
  readonly failureCode: string;
  readonly failureMessage: string;
  /** The processor has acknowledged it. */
  readonly acknowledged: boolean;
  /** A second one under our reference, which nobody asked for. */
  readonly unasked: boolean;
  readonly createdAt: Date;
}

/** What the processor says of a refund. */
export interface RefundReport {
  /** The processor's id; empty: it never came to be. */
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

/** Longest reason, characters (docs/contract.md §5). */
export const reasonMax = 255;

/** What a refund is reserved from. */
export interface Refundable {
  readonly outcome: Outcome;
  readonly capturedAmount: bigint;
  readonly refundedAmount: bigint;
  readonly disputeHold: DisputeHold;
}

export type Reservation =
  | { readonly kind: "reserved"; readonly amount: bigint }
  | { readonly kind: "refused"; readonly reason: "NOT_REFUNDABLE" | "AMOUNT_TOO_LARGE" };

/**
 * How much a new refund takes. @param amount minor units; undefined: all that is left.
 * @param refundedAtMost of the payment in all, so that many small refunds are no way around a limit
 */
export function decideRefund(
  payment: Refundable,
  amount: bigint | undefined,
  refundedAtMost: bigint = payment.capturedAmount,
): Reservation {
  const left = payment.capturedAmount - payment.refundedAmount;
  if (payment.outcome !== "succeeded" || payment.disputeHold !== "none" || left <= 0n) {
    return { kind: "refused", reason: "NOT_REFUNDABLE" };
  }
  const requested = amount ?? left;
  const most = refundedAtMost < payment.capturedAmount ? refundedAtMost : payment.capturedAmount;
  if (payment.refundedAmount + requested > most) return { kind: "refused", reason: "AMOUNT_TOO_LARGE" };
  return { kind: "reserved", amount: requested };
}

// Forward only; succeeded → failed is legal, a bank can send the money back days later. Failed and canceled are final.
const moves: { readonly [From in RefundStatus]: readonly RefundStatus[] } = {
  pending: ["succeeded", "failed", "canceled"],
  succeeded: ["failed"],
  failed: [],
  canceled: [],
};

export type RefundChange =
  | {
      readonly kind: "moved";
      readonly status: RefundStatus;
      /**
       * Minor units to take off the payment's refunded amount: the whole refund when it gives its amount back, else 0.
       */
      readonly restoredAmount: bigint;
      readonly movements: readonly Movement[];
    }
  | { readonly kind: "ignored"; readonly reason: string };

/** Moves a refund to the status that the processor reports. @param refund `unasked`: its money is in `suspense`. */
export function moveRefund(
  refund: { id: string; status: RefundStatus; amount: bigint; unasked?: boolean },
  to: RefundStatus,
): RefundChange {
  if (refund.status === to) return { kind: "ignored", reason: "already known" };
  if (!moves[refund.status].includes(to)) return { kind: "ignored", reason: `a ${refund.status} refund stays` };
  const movement = { cause: refund.id, amount: refund.amount };
  if (refund.unasked) {
    const isBack = to !== "succeeded";
    const movements = isBack ? [{ kind: "suspense_refund_released" as const, ...movement }] : [];
    return { kind: "moved", status: to, restoredAmount: isBack ? refund.amount : 0n, movements };
  }
  if (to === "succeeded") {
    return { kind: "moved", status: to, restoredAmount: 0n, movements: [{ kind: "refund_paid", ...movement }] };
  }
  const kind = refund.status === "succeeded" ? "refund_returned" : "refund_released";
  return { kind: "moved", status: to, restoredAmount: refund.amount, movements: [{ kind, ...movement }] };
}

/** True for a refund that takes from what is left. */
export function isCounted(status: RefundStatus): boolean {
  return status === "pending" || status === "succeeded";
}

/** The movements of a refund that is new to us, in the status in which we hear of it. */
export function openingMovements(refund: {
  id: string;
  amount: bigint;
  status: RefundStatus;
  unasked?: boolean;
}): readonly Movement[] {
  const movement = { cause: refund.id, amount: refund.amount };
  if (refund.unasked) return isCounted(refund.status) ? [{ kind: "suspense_refunded", ...movement }] : [];
  if (refund.status === "pending") return [{ kind: "refund_reserved", ...movement }];
  if (refund.status !== "succeeded") return [];
  return [
    { kind: "refund_reserved", ...movement },
    { kind: "refund_paid", ...movement },
  ];
}
