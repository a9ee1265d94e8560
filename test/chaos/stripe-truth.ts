// What the fake of Stripe's API knows of a run, in the words in which the simulator's truth is compared. Amounts are Stripe's own writing,
// which is ours for the currencies that runs use.
import type { StripeAccount } from "../harness/stripe-account.ts";
import type { FakeIntent, Json } from "../harness/stripe-records.ts";
import type { TheirIntent } from "./processor-truth.ts";

export interface StripeTruth {
  readonly intents: readonly TheirIntent[];
  readonly statement: ReadonlyMap<string, { readonly amount: number; readonly status: string }>;
}

/** @param account absent: the merchant has none there */
export function stripeTruth(account: StripeAccount | undefined): StripeTruth {
  if (!account) return { intents: [], statement: new Map() };
  const intents = [
    ...[...account.intents.values()].map((intent) => intentTruth(account, intent)),
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

function intentTruth(account: StripeAccount, intent: FakeIntent): TheirIntent {
  const ofIntent = <T extends Json & { id: string; status: string }>(all: Iterable<T>) =>
    [...all]
      .filter((each) => each.payment_intent === intent.id)
      .map(({ id, status, amount }) => ({ id, status, amount: Number(amount) }));
  const declines = account.events.filter(
    ({ type, data }) => type === "payment_intent.payment_failed" && objectOf(data).id === intent.id,
  );
  return {
    id: intent.id,
    reference: String((intent.metadata as Json).tollbooth_payment ?? ""),
    status: intent.status,
    amount: intent.amount,
    captured_amount: Number(intent.amount_received ?? 0),
    attempts: declines.map(() => ({ status: "failed" })),
    refunds: ofIntent(account.refunds.values()),
    disputes: ofIntent(account.disputes.values()),
  };
}

/** Stripe's own page before its buyer has begun: there is no intent yet, the page's id is what we know. */
function pageTruth(page: Json & { id: string; status: string }): TheirIntent {
  return {
    id: page.id,
    reference: String(page.client_reference_id ?? ""),
    status: page.status === "expired" ? "canceled" : "requires_payment_method",
    amount: Number(page.amount_total),
    captured_amount: 0,
    attempts: [],
    refunds: [],
    disputes: [],
  };
}

function objectOf(data: unknown): Json {
  return (data as { object: Json }).object;
}
