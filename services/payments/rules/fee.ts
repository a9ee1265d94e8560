// The service's fee on a captured amount (docs/contract.md §5). Pure integer arithmetic.

/** Basis points (hundredths of a percent) and a fixed part in minor units of the payment's currency. */
export interface FeeSchedule {
  readonly basisPoints: bigint;
  readonly fixed: bigint;
}

/** Schedules that have begun for a payment; one goes before those behind it, from its beginning on. */
export type FeeSchedules = readonly (FeeSchedule & { readonly effectiveFrom: Date })[];

/**
 * What a capture adds to the fee, by the schedule in effect at its time. The fixed part is charged with the first one.
 * @param before minor units that were captured before, of `after` in all
 * @param at undefined: now
 */
export function captureFee(before: bigint, after: bigint, at: Date | undefined, schedules: FeeSchedules): bigint {
  if (after < before) throw new RangeError("a capture adds to what was captured");
  const schedule = schedules.find(({ effectiveFrom }) => at === undefined || effectiveFrom <= at);
  if (!schedule) return 0n;
  return computeFee(after, schedule) - (before > 0n ? computeFee(before, schedule) : 0n);
}

/** round half up (amount × basis points / 10,000) + fixed, minor units. @param amount not negative. */
export function computeFee(amount: bigint, schedule: FeeSchedule): bigint {
  if (amount < 0n || schedule.basisPoints < 0n || schedule.fixed < 0n) {
    throw new RangeError("a fee is made of amounts that are not negative");
  }
  return (amount * schedule.basisPoints + 5_000n) / 10_000n + schedule.fixed;
}
