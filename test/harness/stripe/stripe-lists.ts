// Lists of Stripe's API in its stand-in: newest first, page by page, without what lags, and what `expand` puts in place
// of ids.
import type { StripeAccount } from "./stripe-account.ts";
import type { FormObject } from "./stripe-form.ts";
import type { FakeIntent, Json } from "./stripe-records.ts";
import { refuseRequest } from "./stripe-refusals.ts";

/** Those of one intent, if one is named. */
export function ofIntent<T extends Json>(objects: readonly T[], { payment_intent: intent }: FormObject): readonly T[] {
  return intent === undefined ? objects : objects.filter((each) => each.payment_intent === intent);
}

/** With the charge in place of its id, if `expand` names it. */
export function withCharges<T extends Json>(
  account: StripeAccount,
  objects: readonly T[],
  params: FormObject,
): readonly T[] {
  const names = Object.values((params.expand as FormObject | undefined) ?? {});
  if (!names.includes("data.charge")) return objects;
  return objects.map((each) => ({ ...each, charge: account.charges.get(String(each.charge)) ?? null }));
}

/**
 * Replaces the id of a charge's balance transaction and its failure's with the objects, where `expand` names them.
 * @param at path of the charge in the answer
 */
export function withFailures<T extends Json>(
  account: StripeAccount,
  charges: readonly T[],
  params: FormObject,
  at = "data",
): readonly T[] {
  const names = ["balance_transaction", "failure_balance_transaction"].filter((name) =>
    expands(params, `${at}.${name}`),
  );
  const movement = (id: unknown) => account.movements.find((each) => each.id === id) ?? null;
  return charges.map((each) => ({
    ...each,
    ...Object.fromEntries(names.map((name) => [name, movement(each[name])])),
  }));
}

/** With the object that moved the balance in place of its id, and that one's charge, if `expand` names them. */
export function withSource<T extends Json>(account: StripeAccount, movement: T, params: FormObject): T {
  if (!expands(params, "data.source")) return movement;
  const id = String(movement.source);
  const source = account.charges.get(id) ?? account.refunds.get(id) ?? account.disputes.get(id);
  if (!source) {
    const payout = account.payouts.get(id) ?? { id, object: "payout" };
    return { ...movement, source: movement.source === null ? null : payout };
  }
  const charge = account.charges.get(String(source.charge));
  const isWhole = charge && expands(params, "data.source.charge");
  return { ...movement, source: isWhole ? { ...source, charge } : source };
}

function expands(params: FormObject, name: string): boolean {
  return Object.values((params.expand as FormObject | undefined) ?? {}).includes(name);
}

/** A page of what lists show already, newest first. */
export function listPage(
  account: StripeAccount,
  objects: readonly (Json & { id: string })[],
  params: FormObject,
): Json {
  const { gte = 0, lt = Number.POSITIVE_INFINITY } = (params.created ?? {}) as { gte?: number; lt?: number };
  const isWithin = (at: number) => at >= Number(gte) && at < Number(lt);
  const shown = objects.filter((each) => isWithin(Number(each.created)) && account.isListed(each.id));
  // Objects of one second stand in the order of their making.
  const newest = shown.toSorted((a, b) => Number(a.created) - Number(b.created)).toReversed();
  const start = newest.findIndex((each) => each.id === params.starting_after) + 1;
  if (start === 0 && params.starting_after !== undefined)
    refuseRequest(400, { code: "resource_missing", param: "starting_after" });
  const page = newest.slice(start, start + Number(params.limit ?? 10));
  return { object: "list", url: "/v1/list", data: page, has_more: start + page.length < newest.length };
}

/** The objects that `expand` names in place of their ids. */
export function expandIntent(account: StripeAccount, intent: FakeIntent, params: FormObject): Json {
  const names = Object.values((params.expand as FormObject | undefined) ?? {}).map(String);
  const method = names.includes("payment_method") ? account.paymentMethods.get(intent.payment_method ?? "") : undefined;
  const latest = names.some((name) => name.startsWith("latest_charge")) ? account.latestCharge(intent) : undefined;
  const [charge] = withFailures(account, latest ? [latest] : [], params, "latest_charge");
  const refunds = [...account.refunds.values()].filter((each) => each.charge === charge?.id).toReversed();
  const inlineMax = 10;
  const inline = {
    object: "list",
    url: "/v1/refunds",
    data: refunds.slice(0, inlineMax),
    has_more: refunds.length > inlineMax,
  };
  return {
    ...intent,
    payment_method: method ?? intent.payment_method,
    latest_charge: charge ? { ...charge, refunds: inline } : intent.latest_charge,
  };
}
