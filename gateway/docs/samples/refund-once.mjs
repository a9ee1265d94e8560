// Refunds a payment exactly once: every attempt has the same Idempotency-Key. Store the key with your own record of the refund
// before the first attempt, and reuse it after a restart of your program.
import { setTimeout as pause } from "node:timers/promises";

const attemptsMax = 5;
// 500 is safe to retry because of the key.
const retryable = new Set([409, 429, 500, 502, 503]);

/** @param {{ baseUrl: string, apiKey: string, paymentId: string, amount?: number, reason?: string, key: string }} options */
export async function refundOnce({ baseUrl, apiKey, paymentId, amount, reason, key }) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(new URL(`/v1/payments/${paymentId}/refunds`, baseUrl), {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify({ amount, reason }),
    }).catch(() => undefined); // no response: the refund may have been made, and the retry with the same key returns it
    if (answer?.ok) return await answer.json();
    if (attempt === attemptsMax || (answer && !retryable.has(answer.status))) {
      throw new Error(answer ? (await answer.json()).error.code : "no response");
    }
    await pause(Number(answer?.headers.get("Retry-After") ?? 2 ** attempt) * 1000);
  }
}
