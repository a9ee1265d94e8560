// Removes what has been kept long enough: idempotency keys after 24 hours.
import type { Processor } from "../flows/processor.ts";
import { sweepKeys } from "../store/idempotency-keys.ts";
import { type Repeating, repeat } from "./repeating.ts";

const everyMs = 600_000; // old keys are no longer honoured anyway: this is only about room

export function startSweeper({ db, log }: Pick<Processor, "db" | "log">): Repeating {
  return repeat("sweep-old-rows", log, async () => ((await sweepKeys(db)) ? 0 : everyMs));
}
