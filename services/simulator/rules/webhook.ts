// How a webhook is signed and when it is tried again.
import { createHmac } from "node:crypto";

/**
 * The value of the header Processor-Signature.
 * @param atSeconds Unix time of sending
 * @param body exactly the bytes that are sent
 */
export function signWebhook(secret: string, atSeconds: number, body: string): string {
  const mac = createHmac("sha256", secret).update(`${atSeconds}.${body}`).digest("hex");
  return `t=${atSeconds},v1=${mac}`;
}

const firstRetryMs = 500;
const retryMsMax = 30_000;
const giveUpMs = 3 * 24 * 3_600_000; // 3 days: long enough for a weekend's outage

/**
 * @param attempts made so far, this one included
 * @returns milliseconds until the next one; null: three days have passed, none any more
 */
export function retryMs(attempts: number, ageMs: number): number | null {
  if (ageMs >= giveUpMs) return null;
  return Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 10), retryMsMax);
}
