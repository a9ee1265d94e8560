// Reads from Stripe's event list the attempts on a PaymentIntent that failed without a charge: the intent itself shows
// only the last one.
import type Stripe from "stripe";
import type { TryEvent } from "./attempts.ts";

const pageMax = 100; // of Stripe's lists
// The list is the whole account's. During a card-testing attack it can be longer than this; then only the failure that
// the intent shows is counted.
const pagesMax = 5;
export const tryFailed = "payment_intent.payment_failed";

export interface TryHistory {
  /** Oldest first; empty if the list was not read. */
  readonly tries: readonly TryEvent[];
  /** The list, which lags behind webhooks, does not contain the queried event yet, nor perhaps earlier ones. */
  readonly isBehind: boolean;
}

export const emptyHistory: TryHistory = { tries: [], isBehind: false };

/**
 * Empty if the list is too long or not available: only the exact count depends on it.
 * @param eventId an event that it must contain; empty: none
 */
export async function readTries(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  intent: Stripe.PaymentIntent,
  eventId: string,
): Promise<TryHistory> {
  const tries: TryEvent[] = [];
  let isBehind = eventId !== "";
  const window = {
    created: { gte: intent.created },
    types: [tryFailed, "payment_intent.requires_action"],
    limit: pageMax,
  };
  let after: string | undefined;
  try {
    for (let i = 0; i < pagesMax; i++) {
      const page = await sdk.events.list({ ...window, ...(after && { starting_after: after }) }, call);
      tries.push(...page.data.flatMap((event) => tryOf(event, intent.id) ?? []));
      after = page.data.at(-1)?.id;
      isBehind &&= page.data.every(({ id }) => id !== eventId);
      if (!page.has_more) return { tries: tries.reverse(), isBehind };
    }
  } catch {
    // A restricted key may not read events, and a slow list must not block the intent.
  }
  return emptyHistory;
}

function tryOf(event: Stripe.Event, intentId: string): TryEvent | undefined {
  const object = event.data.object as Partial<Stripe.PaymentIntent>;
  if (object.id !== intentId) return undefined;
  const error = event.type === tryFailed ? (object.last_payment_error ?? undefined) : undefined;
  // Without the error, which an older API version may name differently, the failure may be a declined charge.
  if (event.type === tryFailed && !error) return undefined;
  return { at: event.created, error };
}
