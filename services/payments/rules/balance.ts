// Compares a processor's balance with the sum of its movements. Pure.
import type { ProcessorBalance } from "./movement.ts";

/** By currency, what the processor has above the movements, minor units; currencies that agree are absent. */
export function balanceGaps(
  reported: readonly ProcessorBalance[],
  moved: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, bigint> {
  const has = new Map(reported.map(({ currency, available, pending }) => [currency, available + pending]));
  const currencies = [...new Set([...has.keys(), ...moved.keys()])].toSorted();
  const gaps = currencies.map(
    (currency) => [currency, (has.get(currency) ?? 0n) - (moved.get(currency) ?? 0n)] as const,
  );
  return new Map(gaps.filter(([, gap]) => gap !== 0n));
}
