// The number of failed refunds that need action, for the menu. It never delays a page: the menu shows the last known
// number, which is read again in the background.
import { LRUCache } from "lru-cache";
import { callContext } from "#platform/values/call-context.ts";
import type { ConsoleContext, MerchantVisit } from "../session/visit.ts";

const merchantsMax = 1_000;
const freshMs = 15_000;

interface Known {
  readonly count: bigint;
  readonly readAtMs: number;
}

const known = new LRUCache<string, Known>({ max: merchantsMax });

/** 0 while unknown. */
export function countFailedRefunds({ peers }: ConsoleContext, visit: MerchantVisit): bigint {
  if (!visit.may("payments.refund")) return 0n;
  const { merchantId, environment } = visit;
  const key = `${merchantId}/${environment}`;
  const last = known.get(key);
  if (!last || performance.now() - last.readAtMs > freshMs) {
    const readAtMs = performance.now();
    known.set(key, { count: last?.count ?? 0n, readAtMs });
    void callContext
      .run({ ...visit.request.call, deadlineMs: undefined }, () =>
        peers.payments.listRefunds({ merchantId, environment, limit: 1, needsAction: true }),
      )
      .then(({ total }) => known.set(key, { count: total, readAtMs }))
      // Home names the outage.
      .catch(() => undefined);
  }
  return last?.count ?? 0n;
}
