// Stripe's statement of a period, made of its lists of charges, refunds and disputes, one list after the other. An account may also take
// payments for others: what does not carry our reference is none of ours, and is passed over.
import type Stripe from "stripe";
import type { StatementLine } from "../rules/statement.ts";
import type { StatementPage, StatementPeriod } from "./connector.ts";
import { fromStripe } from "./stripe-amount.ts";
import { metadataNames, readDispute, readRefund } from "./stripe-objects.ts";

const pageMax = 100; // of Stripe's lists
const lists = ["charges", "refunds", "disputes"] as const;

/** @param after `next` of the page before: a list and the last id that was read of it, with a space between; empty: the beginning. */
export async function readStatementPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  { from, to }: StatementPeriod,
  after: string,
): Promise<StatementPage> {
  const [name = "", last = ""] = after === "" ? [lists[0]] : after.split(" ");
  const list = lists.find((each) => each === name);
  if (!list) throw new Error("not a page of a statement");
  const window = {
    // Stripe's times are whole seconds.
    created: { gte: Math.floor(from.getTime() / 1_000), lt: Math.ceil(to.getTime() / 1_000) },
    limit: pageMax,
    ...(last === "" ? {} : { starting_after: last }),
  };
  const refOf = intentRefs(sdk, call);
  const page = await readers[list](sdk, call, window, refOf);
  const following = lists[lists.indexOf(list) + 1];
  return { lines: page.lines, next: page.last ? `${list} ${page.last}` : following ? `${following} ` : "" };
}

interface Window {
  readonly created: { readonly gte: number; readonly lt: number };
  readonly limit: number;
  readonly starting_after?: string;
}
type RefOf = (charge: Stripe.Charge) => Promise<string>;
/** `last`: to go on after; undefined: the list has no more. */
interface Page {
  readonly lines: StatementLine[];
  readonly last: string | undefined;
}
type Reader = (sdk: Stripe, call: Stripe.RequestOptions, window: Window, refOf: RefOf) => Promise<Page>;

const readers: { readonly [L in (typeof lists)[number]]: Reader } = {
  charges: async (sdk, call, window, refOf) =>
    pageOf(await sdk.charges.list(window, call), async (charge) => {
      if (!isOurs(charge) || charge.status !== "succeeded" || charge.amount_captured === 0) return undefined;
      const ref = await refOf(charge);
      const currency = charge.currency.toUpperCase();
      const amount = fromStripe(charge.amount_captured, currency);
      return { object: "payment", ref, intentRef: ref, amount, currency, status: "" };
    }),
  refunds: async (sdk, call, window, refOf) =>
    pageOf(await sdk.refunds.list({ ...window, expand: ["data.charge"] }, call), async (refund) => {
      const charge = expandedCharge(refund.charge);
      if (!charge || !isOurs(charge)) return undefined;
      const { ref, amount, status } = readRefund(refund);
      const intentRef = await refOf(charge);
      return { object: "refund", ref, intentRef, amount, currency: refund.currency.toUpperCase(), status };
    }),
  disputes: async (sdk, call, window, refOf) =>
    pageOf(await sdk.disputes.list({ ...window, expand: ["data.charge"] }, call), async (dispute) => {
      const charge = expandedCharge(dispute.charge);
      if (!charge || !isOurs(charge)) return undefined;
      const { ref, amount, status } = readDispute(dispute, [charge]);
      const intentRef = await refOf(charge);
      return { object: "dispute", ref, intentRef, amount, currency: charge.currency.toUpperCase(), status };
    }),
};

async function pageOf<T extends { id: string }>(
  page: Stripe.ApiList<T>,
  lineOf: (object: T) => Promise<StatementLine | undefined>,
): Promise<Page> {
  const lines: StatementLine[] = [];
  for (const object of page.data) {
    const line = await lineOf(object);
    if (line) lines.push(line);
  }
  return { lines, last: page.has_more ? page.data.at(-1)?.id : undefined };
}

/** A charge has the metadata that its PaymentIntent had when it was made. */
function isOurs(charge: Stripe.Charge): boolean {
  return charge.metadata[metadataNames.payment] !== undefined;
}

/** The id that we keep for the intent of a charge: that of the Checkout Session where Stripe's page was used. */
function intentRefs(sdk: Stripe, call: Stripe.RequestOptions): RefOf {
  const known = new Map<string, string>();
  return async (charge) => {
    const intent = typeof charge.payment_intent === "string" ? charge.payment_intent : charge.payment_intent?.id;
    if (!intent) throw new Error("a charge with our reference and without its intent");
    if (charge.metadata[metadataNames.page] === undefined) return intent;
    const session = known.get(intent) ?? (await pageOfIntent(sdk, call, intent));
    known.set(intent, session);
    return session;
  };
}

async function pageOfIntent(sdk: Stripe, call: Stripe.RequestOptions, intent: string): Promise<string> {
  const { data } = await sdk.checkout.sessions.list({ payment_intent: intent, limit: 1 }, call);
  const [session] = data;
  if (!session) throw new Error("a PaymentIntent of Stripe's page without its session");
  return session.id;
}

function expandedCharge(charge: string | Stripe.Charge | null): Stripe.Charge | undefined {
  if (typeof charge === "string") throw new Error("Stripe did not expand the charge");
  return charge ?? undefined;
}
