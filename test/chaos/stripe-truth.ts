// The fake Stripe's objects of a run, in the shape of the simulator's. Amounts are in Stripe's units, which equal ours
// for the currencies of runs.
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { FakeIntent, Json } from "../harness/stripe/stripe-records.ts";
import type { TheirIntent } from "./expected-money.ts";
import type { StripeShop } from "./shop.ts";

interface StripeTruth {
  readonly intents: readonly TheirIntent[];
  readonly statement: ReadonlyMap<string, { readonly amount: number; readonly status: string }>;
}

/** @param stripe absent: the merchant has no account there */
export function stripeTruth(stripe: Pick<StripeShop, "account" | "untold"> | undefined): StripeTruth {
  if (!stripe) return { intents: [], statement: new Map() };
  const { account, untold } = stripe;
  const intents = [
    ...[...account.intents.values()].map((intent) => intentTruth(account, intent, untold.get(intent.id) ?? 0)),
    ...[...account.sessions.values()].filter((page) => page.payment_intent === null).map(pageTruth),
  ];
  const moved = intents.flatMap((intent) => [
    ...(intent.captured_amount > 0
      ? [[intent.id, { amount: intent.captured_amount, status: intent.status }] as const]
      : []),
    ...[...intent.refunds, ...intent.disputes].map((one) => [one.id, one] as const),
  ]);
  return { intents, statement: new Map(moved) };
}

function intentTruth(account: StripeAccount, intent: FakeIntent, untold: number): TheirIntent {
  const ofIntent = <T extends Json & { id: string; status: string }>(all: Iterable<T>) =>
    [...all]
      .filter((each) => each.payment_intent === intent.id)
      .map(({ id, status, amount }) => ({ id, status, amount: Number(amount) }));
  const charge = account.latestCharge(intent);
  const attempts = account.events.flatMap(({ type, data }) => {
    const { id, last_payment_error: error } = objectOf(data) as { id?: string; last_payment_error?: Json | null };
    if (type !== "payment_intent.payment_failed" || id !== intent.id) return [];
    // An intent that is paid or authorized later drops a failure without a charge: only an earlier read has it.
    return [{ status: charge?.status === "succeeded" && !error?.charge ? "forgotten" : "failed" }];
  });
  const captured_amount = Number(intent.amount_received ?? 0);
  const moved = account.movements.find(({ type, source }) => type === "charge" && source === charge?.id);
  const charges = [...account.charges.values()].filter((each) => each.payment_intent === intent.id);
  // Of an intent of Stripe's own page we keep the page's id.
  const page = [...account.sessions.values()].find((each) => each.payment_intent === intent.id);
  return {
    id: page?.id ?? intent.id,
    reference: String(madeWith(account, intent).tollbooth_payment ?? ""),
    status: intent.status,
    amount: intent.amount,
    currency: intent.currency.toUpperCase(),
    captured_amount,
    captures: captured_amount > 0 ? [{ amount: captured_amount, at: Number(moved?.created) }] : [],
    isExpired: intent.cancellation_reason === "automatic",
    attempts,
    // An authorization that is released without a capture does not change the balance.
    refunds: ofIntent([...account.refunds.values()].filter((each) => each.balance_transaction !== null)).map(
      (refund) => ({
        ...refund,
        reference: String((account.refunds.get(refund.id)?.metadata as Json | undefined)?.tollbooth_refund ?? ""),
      }),
    ),
    disputes: ofIntent(account.disputes.values()),
    untold,
    isReturned: Boolean(charge?.failure_balance_transaction),
    wasReturned: charges.some((each) => Boolean(each.failure_balance_transaction)),
  };
}

/** Our metadata of the intent at its creation. */
function madeWith({ events }: StripeAccount, { id, metadata }: FakeIntent): Json {
  const made = events.find(({ type, data }) => type === "payment_intent.created" && data.object.id === id);
  return (made?.data.object.metadata ?? metadata) as Json;
}

/** Stripe's own page before its buyer has begun: there is no intent yet, the page's id is what we know. */
function pageTruth(page: Json & { id: string; status: string }): TheirIntent {
  return {
    id: page.id,
    reference: String(page.client_reference_id ?? ""),
    status: page.status === "expired" ? "canceled" : "requires_payment_method",
    amount: Number(page.amount_total),
    currency: String(page.currency).toUpperCase(),
    captured_amount: 0,
    captures: [],
    attempts: [],
    refunds: [],
    disputes: [],
    untold: 0,
  };
}

function objectOf(data: unknown): Json {
  return (data as { object: Json }).object;
}
