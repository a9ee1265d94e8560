// A retry with a claimed key goes straight to its payment: money that its first run moved is never answered with a
// refusal by today's rules or accounts.
import { Failure } from "#platform/values/failure.ts";

/** @param resume calls payments with `resumeOnly` @returns undefined: no earlier call reached payments */
export async function resumeBegun<T>(resume: () => Promise<T>): Promise<T | undefined> {
  try {
    return await resume();
  } catch (error) {
    if (error instanceof Failure && error.reason === "NOT_FOUND") return undefined;
    throw error;
  }
}
