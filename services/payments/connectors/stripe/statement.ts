// Stripe's statement of a period: its balance transactions, each as the current line of the object that it is about,
// however old. Skips fees, payouts and objects without our reference: the account may also take payments for others.
import type Stripe from "stripe";
import type { StatementLine } from "../../rules/statement.ts";
import type { StatementPage, StatementPeriod } from "../connector.ts";
import { fromStripe } from "./amount.ts";
import { readDispute, readRefund } from "./objects.ts";
import { expandedSources, intentOf, intentRefs, isOurs, type MovedObject, movedOf } from "./sources.ts";

const pageMax = 100; // of Stripe's lists

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
      expand: expandedSources,
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
