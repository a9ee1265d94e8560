// The service's fee on a captured amount (docs/contract.md §5). Pure integer arithmetic.
import assert from "node:assert/strict";

/** Basis points (hundredths of a percent), and a fixed part in minor units of the payment's currency. */
export interface FeeSchedule {
  readonly basisPoints: bigint;
  readonly fixed: bigint;
}

/** Schedules that apply to a payment; each, from its `effectiveFrom` on, takes precedence over those after it. */
export type FeeSchedules = readonly (FeeSchedule & { readonly effectiveFrom: Date })[];

/**
 * The fee that a capture adds, by the schedule in effect at its time. The first capture is charged the fixed part.
 * @param before minor units captured before. @param after in total. @param at undefined: now
 */
export function captureFee(before: bigint, after: bigint, at: Date | undefined, schedules: FeeSchedules): bigint {
  assert(after >= before, "a capture adds to what was captured");
  const schedule = schedules.find(({ effectiveFrom }) => at === undefined || effectiveFrom <= at);
  if (!schedule) return 0n;
  return computeFee(after, schedule) - (before > 0n ? computeFee(before, schedule) : 0n);
}

/** Amount × basis points / 10,000, rounded half up, + fixed; minor units. */
export function computeFee(amount: bigint, schedule: FeeSchedule): bigint {
  assert(amount >= 0n && schedule.basisPoints >= 0n && schedule.fixed >= 0n, "a fee is made of positive amounts");
  return (amount * schedule.basisPoints + 5_000n) / 10_000n + schedule.fixed;
}
