// Applies delayed facts at their times, and polls for those of an earlier process.
import type { Processor } from "../processor.ts";
import { applyDelayedFacts } from "./apply-delayed-facts.ts";
import { repeatWork } from "./repeating.ts";

const pollMs = 1_000; // for facts without a timer, after a restart

export function startClock(processor: Processor): { wakeIn(ms: number): void; stop(): Promise<void> } {
  const job = repeatWork("clock", processor.log, async () => ((await applyDelayedFacts(processor)) ? 0 : pollMs));
  return {
    wakeIn: (ms) => void setTimeout(job.wake, ms + 1).unref(), // the database's clock may be a fraction behind
    stop: job.stop,
  };
}
