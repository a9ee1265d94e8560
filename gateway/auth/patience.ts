// Patience with a service that is away (platform/rpc/client.ts).
import { isUnavailable, untilFinished } from "#platform/rpc/client.ts";

/**
 * Retries while the peer is unavailable, as calls with an idempotency key do: for reads before such a call, and for
 * steps of long work that would otherwise restart.
 */
export async function retryWhileUnavailable<T>(ask: () => Promise<T>): Promise<T> {
  return await ask().catch(async (error: unknown) => {
    if (!isUnavailable(error)) throw error;
    return await untilFinished(ask, true, error);
  });
}
