// A processor's share of a call's time, and the note that its work may have begun.
import { callContext, remainingMs } from "#platform/values/call-context.ts";

/** Time that payments reserves to settle and answer after the last processor call. */
export const settleReserveMs = 3_000;
// A shorter time is not worth starting a call.
const worthwhileMs = 250;

/** Milliseconds for a processor call, at most `limitMs`; 0 when too little time is left. */
export function processorShareMs(limitMs: number): number {
  const left = remainingMs(Number.MAX_SAFE_INTEGER) - settleReserveMs;
  const share = Math.min(limitMs, left);
  return share < worthwhileMs ? 0 : share;
}

/**
 * Call this before a command leaves the system: afterwards a failure of the call no longer means that nothing was done.
 */
export function noteBegun(): void {
  const context = callContext.getStore();
  if (context) context.begun = true;
}
