// A payout's state: the processor's reports move it forward, and one that was paid can only be returned. Pure.
import type { PayoutStatus } from "./movement.ts";

/** Grows with each change of a payout. */
export const payoutRank: Readonly<Record<PayoutStatus, number>> = {
  pending: 0,
  in_transit: 1,
  paid: 2,
  failed: 3,
  returned: 3,
};

/** The status after a report. A late report changes nothing. @param known undefined: a new payout */
export function nextPayoutStatus(known: PayoutStatus | undefined, reported: PayoutStatus): PayoutStatus {
  if (known === undefined) return reported;
  if (known === "failed" || known === "returned") return known;
  if (known === "paid") return reported === "failed" || reported === "returned" ? "returned" : "paid";
  return payoutRank[reported] > payoutRank[known] ? reported : known;
}

/** The event of a change; undefined: none. */
export function payoutEvent(known: PayoutStatus | undefined, next: PayoutStatus): "paid" | "failed" | undefined {
  if (known === next) return undefined;
  if (next === "paid") return "paid";
  return next === "failed" || next === "returned" ? "failed" : undefined;
}

/** Days between the announced arrival of a payout and its line on the bank's statement. */
export const bankLineDaysMax = 5;
