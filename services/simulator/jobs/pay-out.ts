// Pays out what is available, once a period for each account and currency, and moves payouts on. Safe to rerun.
import type { Processor } from "../processor.ts";
import { makePayouts, moveDuePayouts } from "../store/payouts.ts";
import { type Repeating, repeatWork } from "./repeating.ts";

const pollMs = 1_000;
const searchMsMax = 60_000; // a search reads every movement that waits for a payout

export function startPayer({ db, log, delayMs, payoutSeconds }: Processor): Repeating {
  const searchMs = Math.min(payoutSeconds * 1_000, searchMsMax);
  let searchedAt = Number.NEGATIVE_INFINITY;
  return repeatWork("pay-out", log, async () => {
    await moveDuePayouts(db, delayMs);
    if (performance.now() - searchedAt < searchMs) return pollMs;
    await makePayouts(db, { everySeconds: payoutSeconds, delayMs, account: null });
    searchedAt = performance.now();
    return pollMs;
  });
}
