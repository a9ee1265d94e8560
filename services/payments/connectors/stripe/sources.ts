// The object of one of Stripe's balance transactions: a charge, or a refund or dispute with its charge, and our
// reference for its intent.
import type Stripe from "stripe";
import { metadataNames } from "./objects.ts";

const parallelMax = 8; // far below Stripe's rate limit

/** For lists of balance transactions, so that `movedOf` can read them. */
export const expandedSources = ["data.source", "data.source.charge"];

/** An object that moved money, with its charge. */
export type MovedObject =
  | { readonly id: string; readonly object: "payment"; readonly charge: Stripe.Charge }
  | { readonly id: string; readonly object: "refund"; readonly charge: Stripe.Charge; readonly refund: Stripe.Refund }
  | {
      readonly id: string;
      readonly object: "dispute";
      readonly charge: Stripe.Charge;
      readonly dispute: Stripe.Dispute;
    };

/** undefined: a fee, a payout, or any other movement without a payment. */
export function movedOf(source: Stripe.BalanceTransaction["source"]): MovedObject | undefined {
  if (source === null) return undefined;
  if (typeof source === "string") throw new Error("Stripe did not expand the source of a balance transaction");
  if (source.object === "charge") return { id: source.id, object: "payment", charge: source };
  if (source.object !== "refund" && source.object !== "dispute") return undefined;
  const { charge } = source;
  if (!charge) return undefined;
  if (typeof charge === "string") throw new Error("Stripe did not expand the charge");
  return source.object === "refund"
    ? { id: source.id, object: "refund", charge, refund: source }
    : { id: source.id, object: "dispute", charge, dispute: source };
}

/** A charge copies the metadata of its PaymentIntent. */
export function isOurs(charge: Stripe.Charge): boolean {
  return charge.metadata[metadataNames.payment] !== undefined;
}

export function intentOf({ payment_intent: intent }: Stripe.Charge): string | undefined {
  return typeof intent === "string" ? intent : intent?.id;
}

/**
 * Our reference by PaymentIntent: its own id, or the Checkout Session's for Stripe's page. @param known sessions that
 * need no call; new ones are added
 */
export async function intentRefs(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  charges: readonly Stripe.Charge[],
  known = new Map<string, string>(),
): Promise<ReadonlyMap<string, string>> {
  const isPages = new Map(
    charges.map((charge) => [intentOf(charge) ?? "", charge.metadata[metadataNames.page] !== undefined]),
  );
  const refs = new Map([...isPages.keys()].map((intent) => [intent, known.get(intent) ?? intent]));
  const pages = [...isPages].flatMap(([intent, isPage]) => (isPage && !known.has(intent) ? [intent] : []));
  for (let i = 0; i < pages.length; i += parallelMax) {
    const batch = pages.slice(i, i + parallelMax);
    const sessions = await Promise.all(batch.map((intent) => sessionOf(sdk, call, intent)));
    for (const [j, intent] of batch.entries()) known.set(intent, sessions[j] ?? intent);
    for (const intent of batch) refs.set(intent, known.get(intent) ?? intent);
  }
  return refs;
}

async function sessionOf(sdk: Stripe, call: Stripe.RequestOptions, intent: string): Promise<string> {
  const { data } = await sdk.checkout.sessions.list({ payment_intent: intent, limit: 1 }, call);
  const [session] = data;
  if (!session) throw new Error("a PaymentIntent of Stripe's page without its session");
  return session.id;
}
