// What Stripe's event list tells of the tries to pay one PaymentIntent: how many failed before there was a charge,
// which the intent itself forgets with the next try.
import type Stripe from "stripe";
import type { TryEvent } from "./attempts.ts";

const pageMax = 100; // of Stripe's lists
// The list is the account's, not the intent's. An account whose buyers fail more often than this while one of them pays
// (somebody tries out stolen cards there) is not worth the wait: then only the failure that the intent shows is
// counted.
const pagesMax = 5;
/** The event of a try that failed. */
export const tryFailed = "payment_intent.payment_failed";

/** What the event list tells of one intent. */
export interface TryHistory {
  /** Oldest first; empty where the list was not asked. */
  readonly tries: readonly TryEvent[];
  /**
   * The list does not show the event by which was asked: it shows new ones later than webhooks tell them, and perhaps
   * not those before it either.
   */
  readonly isBehind: boolean;
}

export const emptyHistory: TryHistory = { tries: [], isBehind: false };

/**
 * Nothing when the list is too long or not to be had: it makes the count exact, and no fact depends on it.
 * @param eventId id of an event that it must show; empty: none
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
    // A restricted key may not read events, and a slow list must not keep the intent itself from being read.
  }
  return emptyHistory;
}

function tryOf(event: Stripe.Event, intentId: string): TryEvent | undefined {
  const object = event.data.object as Partial<Stripe.PaymentIntent>;
  if (object.id !== intentId) return undefined;
  const error = event.type === tryFailed ? (object.last_payment_error ?? undefined) : undefined;
  // An older API version may name the error otherwise; without it the failure cannot be told from a declined charge.
  if (event.type === tryFailed && !error) return undefined;
  return { at: event.created, error };
}
