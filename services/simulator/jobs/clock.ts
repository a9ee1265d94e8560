// Looks for delayed facts: at the moment one is planned for, and now and then for those of before a restart.
import type { Processor } from "../processor.ts";
import { applyDelayedFacts } from "./apply-delayed-facts.ts";
import { repeatWork } from "./repeating.ts";

const pollMs = 1_000; // only a restart leaves facts that nobody has set a timer for

export function startClock(processor: Processor): { wakeIn(ms: number): void; stop(): Promise<void> } {
  const job = repeatWork("clock", processor.log, async () => ((await applyDelayedFacts(processor)) ? 0 : pollMs));
  return {
    wakeIn: (ms) => void setTimeout(job.wake, ms + 1).unref(), // 1: the database's clock may be behind by a fraction
    stop: job.stop,
  };
}
