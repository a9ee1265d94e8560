// Movements of an account's balance: what a change of an intent moves, and the processor's fees. Payouts, reserves and
// corrections move it without an intent.
import type { Dispute, Intent, Refund } from "./intent.ts";

export type MovementType =
  | "capture"
  | "refund"
  | "refund_failure"
  /** Also a returned debit, then without an object. */
  | "dispute"
  | "dispute_reversal"
  | "processor_fee"
  | "adjustment"
  | "reserve"
  | "release"
  | "payout"
  | "payout_failure";

/** Amounts in minor units. */
export interface Movement {
  readonly type: MovementType;
  /** Effect on the balance before the fee. */
  readonly amount: number;
  readonly fee: number;
  /** The refund or dispute; null: none. */
  readonly object_id: string | null;
}

const captureFeePermille = 14;
const captureFeeFixed = 25;
const disputeFee = 1_500; // not returned when the dispute is won

/** Everything that differs between the two and moves money. */
export function movementsBetween(before: Intent, after: Intent): readonly Movement[] {
  const captured = after.captured_amount - before.captured_amount;
  return [
    ...moved(captured, ["dispute", "capture"], null),
    ...after.refunds.flatMap((refund) => {
      const known = before.refunds.find(({ id }) => id === refund.id);
      return moved(refunded(known) - refunded(refund), ["refund", "refund_failure"], refund.id);
    }),
    ...after.disputes.flatMap((dispute) => {
      const known = before.disputes.find(({ id }) => id === dispute.id);
      return moved(withheld(known) - withheld(dispute), ["dispute", "dispute_reversal"], dispute.id);
    }),
  ];
}

type Types = readonly [lowers: MovementType, raises: MovementType];

function moved(amount: number, [lowers, raises]: Types, object_id: string | null): readonly Movement[] {
  if (amount === 0) return [];
  const type = amount < 0 ? lowers : raises;
  return [{ type, amount, fee: feeOf(type, amount, object_id), object_id }];
}

function feeOf(type: MovementType, amount: number, object_id: string | null): number {
  if (type === "capture") return Math.round((amount * captureFeePermille) / 1_000) + captureFeeFixed;
  return type === "dispute" && object_id !== null ? disputeFee : 0;
}

/** A pending refund has left the balance already. */
function refunded(refund: Refund | undefined): number {
  return refund && (refund.status === "pending" || refund.status === "succeeded") ? refund.amount : 0;
}

/** An inquiry withholds nothing. */
function withheld(dispute: Dispute | undefined): number {
  return dispute && ["needs_response", "under_review", "lost"].includes(dispute.status) ? dispute.amount : 0;
}
