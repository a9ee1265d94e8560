// The service's fee on a captured amount (docs/contract.md §5). Pure integer arithmetic.

/** Basis points (hundredths of a percent) and a fixed part in minor units of the payment's currency. */
export interface FeeSchedule {
  readonly basisPoints: bigint;
  readonly fixed: bigint;
}

/** round half up (amount × basis points / 10,000) + fixed, minor units. @param amount not negative. */
export function fee(amount: bigint, schedule: FeeSchedule): bigint {
  if (amount < 0n || schedule.basisPoints < 0n || schedule.fixed < 0n) {
    throw new RangeError("a fee is made of amounts that are not negative");
  }
  return (amount * schedule.basisPoints + 5_000n) / 10_000n + schedule.fixed;
}
