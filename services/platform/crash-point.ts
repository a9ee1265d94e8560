// Places where a test lets the process die, one after each phase of a flow: what is left must be found and finished by whoever comes
// next. Without CRASH_POINT_DIR in the environment a place is an empty call; in production the setting is refused.
import { unlinkSync } from "node:fs";
import { join } from "node:path";

/** Every place, with the process that has it. */
export const crashPoints = {
  "create-session.1-claimed": "checkout",
  "create-session.2-screened": "checkout",
  "create-session.3-intent-made": "checkout",
  "create-session.4-stored": "checkout",
  "create-payment.5-answered": "checkout",
  "confirm-session.2-asked": "checkout",
  "confirm-session.3-applied": "checkout",
  "expire-session.1-remembered": "checkout",
  "expire-session.2-asked": "checkout",
  "expire-session.3-applied": "checkout",
  "follow-payments.1-taken-in": "checkout",
  "create-intent.1-account-chosen": "payments",
  "create-intent.2-rows-written": "payments",
  "create-intent.3-made": "payments",
  "create-intent.4-recorded": "payments",
  "create-payment.2-rows-written": "payments",
  "create-payment.3-paid": "payments",
  "create-payment.4-settled": "payments",
  "verify-intent.2-asked": "payments",
  "verify-intent.3-settled": "payments",
  "receive-event.1-account-found": "payments",
  "receive-event.2-verified": "payments",
  "receive-event.3-asked": "payments",
  "receive-event.4-settled": "payments",
  "settle-payment.before-commit": "payments",
  "refund-payment.1-claimed": "payments",
  "refund-payment.2-reserved": "payments",
  "refund-payment.3-made": "payments",
  "refund-payment.4-settled": "payments",
  "make-at-processor.1-in-doubt": "payments",
  "cancel-intent.1-read": "payments",
  "cancel-intent.2-canceled": "payments",
  "cancel-intent.3-settled": "payments",
  "reconcile.1-claimed": "payments",
} as const;

export type CrashPoint = keyof typeof crashPoints;

const dir = process.env.CRASH_POINT_DIR || undefined;
if (dir !== undefined && process.env.NODE_ENV === "production") {
  throw new Error("CRASH_POINT_DIR is for tests and refused in production");
}

/** Dies here, once, if a file of this name lies in CRASH_POINT_DIR; the file goes with it. */
export function crashPoint(name: CrashPoint): void {
  if (dir === undefined) return;
  try {
    unlinkSync(join(dir, name));
  } catch {
    return; // not armed
  }
  process.kill(process.pid, "SIGKILL");
}
