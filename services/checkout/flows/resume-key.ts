// A key that was claimed before goes straight to its object: whatever rules, accounts and permissions are by now, money
// that its first run moved is never answered with a refusal.
import { Failure } from "#platform/values/failure.ts";

/**
 * What payments answers to a call that only goes on.
 * @returns undefined: no earlier call came as far as payments, so the ordinary way is open.
 */
export async function ifBegun<T>(goOn: () => Promise<T>): Promise<T | undefined> {
  try {
    return await goOn();
  } catch (error) {
    if (error instanceof Failure && error.reason === "NOT_FOUND") return undefined;
    throw error;
  }
}
