// Stripe's statement of a period: its balance transactions, each as the current line of the object that it is about,
// however old. Skips fees, payouts and objects without our reference: the account may also take payments for others.
import type Stripe from "stripe";
import type { StatementLine } from "../../rules/statement.ts";
import type { StatementPage, StatementPeriod } from "../connector.ts";
import { fromStripe } from "./amount.ts";
import { metadataNames, readDispute, readRefund } from "./objects.ts";

const pageMax = 100; // of Stripe's lists
const parallelMax = 8; // far below Stripe's rate limit

/** @param after the last balance transaction read; empty: the beginning */
export async function readStatementPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  { from, to }: StatementPeriod,
  after: string,
): Promise<StatementPage> {
  const page = await sdk.balanceTransactions.list(
    {
      // Stripe's times are whole seconds.
      created: { gte: Math.floor(from.getTime() / 1_000), lt: Math.ceil(to.getTime() / 1_000) },
      limit: pageMax,
      expand: ["data.source", "data.source.charge"],
      ...(after === "" ? {} : { starting_after: after }),
    },
    call,
  );
  const sources = new Map(page.data.flatMap(({ source }) => movedOf(source) ?? []).map((moved) => [moved.id, moved]));
  const ours = [...sources.values()].filter(({ charge }) => intentOf(charge) !== undefined && isOurs(charge));
  const refs = await intentRefs(
    sdk,
    call,
    ours.map(({ charge }) => charge),
  );
  const lines = ours.map((moved) => lineOf(moved, refs.get(intentOf(moved.charge) ?? "") ?? ""));
  return { lines, next: page.has_more ? (page.data.at(-1)?.id ?? "") : "" };
}

/** An object that moved money, with its charge. */
type MovedObject =
  | { readonly id: string; readonly object: "payment"; readonly charge: Stripe.Charge }
  | { readonly id: string; readonly object: "refund"; readonly charge: Stripe.Charge; readonly refund: Stripe.Refund }
  | {
      readonly id: string;
      readonly object: "dispute";
      readonly charge: Stripe.Charge;
      readonly dispute: Stripe.Dispute;
    };

/** undefined: a fee, a payout, or any other movement without a payment. */
function movedOf(source: Stripe.BalanceTransaction["source"]): MovedObject | undefined {
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

/** In the object's own currency, which may differ from the balance's. */
function lineOf(moved: MovedObject, intentRef: string): StatementLine {
  const { object, charge } = moved;
  const currency = charge.currency.toUpperCase();
  switch (moved.object) {
    case "payment": {
      // A returned debit has captured nothing in the end.
      const captured = charge.status === "succeeded" ? charge.amount_captured : 0;
      return { object, ref: intentRef, intentRef, amount: fromStripe(captured, currency), currency, status: "" };
    }
    case "refund": {
      const { ref, amount, status } = readRefund(moved.refund);
      return { object, ref, intentRef, amount, currency: moved.refund.currency.toUpperCase(), status };
    }
    case "dispute": {
      const { ref, amount, status } = readDispute(moved.dispute, [charge]);
      return { object, ref, intentRef, amount, currency, status };
    }
  }
}

/** A charge copies the metadata of its PaymentIntent. */
function isOurs(charge: Stripe.Charge): boolean {
  return charge.metadata[metadataNames.payment] !== undefined;
}

function intentOf({ payment_intent: intent }: Stripe.Charge): string | undefined {
  return typeof intent === "string" ? intent : intent?.id;
}

/** Our reference by PaymentIntent: its own id, or the Checkout Session's for Stripe's page. */
async function intentRefs(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  charges: readonly Stripe.Charge[],
): Promise<ReadonlyMap<string, string>> {
  const isPages = new Map(
    charges.map((charge) => [intentOf(charge) ?? "", charge.metadata[metadataNames.page] !== undefined]),
  );
  const refs = new Map([...isPages.keys()].map((intent) => [intent, intent]));
  const pages = [...isPages].flatMap(([intent, isPage]) => (isPage ? [intent] : []));
  for (let i = 0; i < pages.length; i += parallelMax) {
    const batch = pages.slice(i, i + parallelMax);
    const sessions = await Promise.all(batch.map((intent) => sessionOf(sdk, call, intent)));
    for (const [j, intent] of batch.entries()) refs.set(intent, sessions[j] ?? intent);
  }
  return refs;
}

async function sessionOf(sdk: Stripe, call: Stripe.RequestOptions, intent: string): Promise<string> {
  const { data } = await sdk.checkout.sessions.list({ payment_intent: intent, limit: 1 }, call);
  const [session] = data;
  if (!session) throw new Error("a PaymentIntent of Stripe's page without its session");
  return session.id;
}
