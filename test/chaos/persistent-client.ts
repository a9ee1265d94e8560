// A client that retries as the contract asks: after 409, 429, 502, 503 and a broken connection, and only then
// (docs/contract.md §2).
import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../harness/api.ts";

/** Statuses that invite another try. */
const again = new Set([409, 429, 502, 503]);

export interface Patience {
  /** How long a request is repeated, milliseconds. */
  readonly limitMs: number;
  readonly pauseMs: number;
  /** Called with the last answer when the time limit is over. */
  readonly onGiveUp?: (last: string) => void;
}

/**
 * @param what names the request where it is given up
 * @returns the first answer that does not invite another try, or undefined when there was none within the limit
 */
export async function untilAnswered(
  ask: () => Promise<Answer>,
  patience: Patience,
  what = "a request",
): Promise<Answer | undefined> {
  const end = performance.now() + patience.limitMs;
  let last = "no answer";
  do {
    const answer = await tryOnce(ask);
    if (answer) last = String(answer);
    if (answer && !again.has(answer.status)) return answer;
    await pause(patience.pauseMs);
  } while (performance.now() < end);
  patience.onGiveUp?.(`${what} still got ${last}`);
  return undefined;
}

/** One try; undefined when no answer came. */
export async function tryOnce<T>(ask: () => Promise<T>): Promise<T | undefined> {
  return await ask().catch(() => undefined);
}
