// Refunds a payment, and never twice: the same Idempotency-Key with every try. Store the key beside your own record of the refund
// before the first try, so that a restart of your program uses it again.
import { setTimeout as pause } from "node:timers/promises";

const triesMax = 5;
// Only these invite the same request again; 500 is safe to repeat because of the key.
const mayRepeat = new Set([409, 429, 500, 502, 503]);

/** @param {{ baseUrl: string, apiKey: string, paymentId: string, amount?: number, reason?: string, key: string }} options */
export async function refundOnce({ baseUrl, apiKey, paymentId, amount, reason, key }) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(new URL(`/v1/payments/${paymentId}/refunds`, baseUrl), {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify({ amount, reason }),
    }).catch(() => undefined); // no answer: the refund may or may not have been made; the key finds out
    if (answer?.ok) return await answer.json();
    if (attempt === triesMax || (answer && !mayRepeat.has(answer.status))) {
      throw new Error(answer ? (await answer.json()).error.code : "no answer");
    }
    await pause(Number(answer?.headers.get("Retry-After") ?? 2 ** attempt) * 1000);
  }
}
