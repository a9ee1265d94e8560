// Waits for a fact instead of for a time: asks again until it holds, within a limit.
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

const limitMsDefault = 30_000; // far beyond what a slow and loaded machine needs: only a failing test waits for it
const everyMsDefault = 20; // short against the waits, long against the cost of a check

/**
 * @param what names the fact in the failure: "the delivery to be marked as delivered"
 * @param probe asks; undefined, null, false or a throw means: not yet
 * @returns the first other answer
 * @throws at the limit, with the last answer or error
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  { limitMs = limitMsDefault, everyMs = everyMsDefault } = {},
): Promise<T> {
  const end = performance.now() + limitMs;
  let last: unknown;
  do {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await pause(everyMs);
  } while (performance.now() < end);
  const shown = last instanceof Error ? last.message : inspect(last);
  throw new Error(`waited ${limitMs} ms for ${what}; last: ${shown}`, { cause: last });
}
