// Signature and retry schedule of webhooks.
import { createHmac } from "node:crypto";

/**
 * The value of the header Processor-Signature.
 * @param atSeconds Unix time of sending
 * @param body the exact bytes sent
 */
export function signWebhook(secret: string, atSeconds: number, body: string): string {
  const mac = createHmac("sha256", secret).update(`${atSeconds}.${body}`).digest("hex");
  return `t=${atSeconds},v1=${mac}`;
}

const firstRetryMs = 500;
const retryMsMax = 30_000;
const giveUpMs = 3 * 24 * 3_600_000; // 3 days, longer than a weekend's outage

/**
 * @param attempts including this one
 * @returns milliseconds until the next attempt; null: three days have passed
 */
export function retryMs(attempts: number, ageMs: number): number | null {
  if (ageMs >= giveUpMs) return null;
  return Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 10), retryMsMax);
}
