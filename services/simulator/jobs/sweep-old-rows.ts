// Deletes old rows: expired idempotency keys and payment methods, and finished events after 30 days.
import type { Processor } from "../processor.ts";
import { sweepEvents } from "../store/events.ts";
import { sweepKeys } from "../store/idempotency-keys.ts";
import { sweepPaymentMethods } from "../store/payment-methods.ts";
import { type Repeating, repeatWork } from "./repeating.ts";

const everyMs = 600_000; // only frees space

export function startSweeper({ db, log, keySeconds }: Pick<Processor, "db" | "log" | "keySeconds">): Repeating {
  return repeatWork("sweep-old-rows", log, async () => {
    const more = [await sweepKeys(db, keySeconds), await sweepPaymentMethods(db), await sweepEvents(db)];
    return more.includes(true) ? 0 : everyMs;
  });
}
