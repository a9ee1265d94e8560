// Stripe's balance: its transactions as movements, payouts with the transactions in them, and the balance itself.
import type Stripe from "stripe";
import type {
  MovementType,
  PayoutStatus,
  ProcessorBalance,
  ProcessorMovement,
  ProcessorPayout,
} from "../../rules/movement.ts";
import type { BalanceReader, ListPage } from "../balance-reader.ts";
import { isKnown, type ProcessorAccount, type ProcessorAnswer } from "../connector.ts";
import { fromStripe } from "./amount.ts";
import { mapAnswer, queryAnswer } from "./client.ts";
import { dateOf, readDispute } from "./objects.ts";
import { expandedSources, intentOf, intentRefs, isOurs, type MovedObject, movedOf } from "./sources.ts";

const pageMax = 100; // of Stripe's lists
// Reads overlap, and an intent keeps its session.
const sessionsMax = 10_000;

/** @param callOf options of the account's calls */
export function stripeBalance(
  sdk: Stripe,
  callOf: (account: ProcessorAccount) => Stripe.RequestOptions,
): BalanceReader {
  const sessions = new Map<string, string>();
  return {
    readMovements: (account, since, after) =>
      queryAnswer(readMovementPage(sdk, callOf(account), since, after, sessions)),
    readPayouts: (account, since, after) => queryAnswer(readPayoutPage(sdk, callOf(account), since, after)),
    readPayoutLines: (account, ref, after) => readPayoutLines(sdk, callOf(account), ref, after),
    readBalance: async (account) => mapAnswer(await queryAnswer(sdk.balance.retrieve({}, callOf(account))), balancesIn),
  };
}

function windowOf(since: Date | undefined, after: string) {
  return {
    limit: pageMax,
    ...(since && { created: { gte: Math.floor(since.getTime() / 1_000) } }),
    ...(after === "" ? {} : { starting_after: after }),
  };
}

function nextOf({ data, has_more: isMore }: Stripe.ApiList<{ readonly id: string }>): string {
  return isMore ? (data.at(-1)?.id ?? "") : "";
}

async function readMovementPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  since: Date | undefined,
  after: string,
  sessions: Map<string, string>,
): Promise<ListPage<ProcessorMovement>> {
  const page = await sdk.balanceTransactions.list({ ...windowOf(since, after), expand: expandedSources }, call);
  const moves = page.data.filter(isOfPayments).map((transaction) => ({ transaction, moved: movedBy(transaction) }));
  const charges = moves.flatMap(({ moved }) => moved?.charge ?? []).filter((charge) => intentOf(charge) !== undefined);
  if (sessions.size > sessionsMax) sessions.clear();
  const refs = await intentRefs(sdk, call, charges, sessions);
  return { items: moves.map(({ transaction, moved }) => readMovement(transaction, moved, refs)), next: nextOf(page) };
}

/** The other balances of an account, such as Issuing's, are not paid out. */
function isOfPayments({ balance_type: type }: Stripe.BalanceTransaction): boolean {
  return (type ?? "payments") === "payments";
}

/** Types of a movement that lowers the balance and of one that raises it. */
type Types = readonly [lowers: MovementType, raises: MovementType];

// A failed or reversed charge is a debit that the bank has taken back.
const charges: Types = ["dispute", "capture"];
const refunds: Types = ["refund", "refund_failure"];
const disputes: Types = ["dispute", "dispute_reversal"];
const fees: Types = ["processor_fee", "processor_fee"];
// A payout below zero collects, and raises the balance.
const payouts: Types = ["payout", "payout_failure"];
const reserves: Types = ["reserve", "release"];

/** By Stripe's type (https://docs.stripe.com/reports/balance-transaction-types); others are adjustments. */
const typesOf = new Map<string, Types>([
  ["charge", charges],
  ["payment", charges],
  ["payment_failure_refund", charges],
  ["payment_reversal", charges],
  ["refund", refunds],
  ["payment_refund", refunds],
  ["refund_failure", refunds],
  ["stripe_fee", fees],
  ["stripe_fx_fee", fees],
  ["tax_fee", fees],
  ["payout", payouts],
  ["payout_cancel", payouts],
  ["payout_failure", payouts],
  ["reserve_transaction", reserves],
  ["reserved_funds", reserves],
  ["reserve_hold", reserves],
  ["reserve_release", reserves],
  ["payment_network_reserve_hold", reserves],
  ["payment_network_reserve_release", reserves],
  ["payout_minimum_balance_hold", reserves],
  ["payout_minimum_balance_release", reserves],
]);

/** The charge, refund or dispute of a transaction; undefined: it is about another object. */
function movedBy({ type, source }: Stripe.BalanceTransaction): MovedObject | undefined {
  const types = typesOf.get(type);
  const isPayment = types === charges || types === refunds || type === "adjustment";
  return isPayment ? movedOf(source) : undefined;
}

function readMovement(
  transaction: Stripe.BalanceTransaction,
  moved: MovedObject | undefined,
  refs: ReadonlyMap<string, string>,
): ProcessorMovement {
  const currency = transaction.currency.toUpperCase();
  const intentRef = moved && refs.get(intentOf(moved.charge) ?? "");
  const objectRef = objectOf(transaction, moved);
  const source = moved && sourceOf(transaction, moved);
  return {
    ref: transaction.id,
    type: typeOf(transaction, moved),
    amount: fromStripe(transaction.amount, currency),
    fee: fromStripe(transaction.fee, currency),
    currency,
    ...(source && { source }),
    isOurs: moved !== undefined && isOurs(moved.charge),
    ...(intentRef && { intentRef }),
    ...(objectRef && { objectRef }),
    occurredAt: dateOf(transaction.created),
    // Stripe dates it by the day.
    availableAt: dateOf(Math.max(transaction.available_on, transaction.created)),
  };
}

function typeOf({ type, amount }: Stripe.BalanceTransaction, moved: MovedObject | undefined): MovementType {
  const ofAdjustment = moved?.object === "dispute" ? disputes : moved?.object === "refund" ? refunds : undefined;
  const types = type === "adjustment" ? ofAdjustment : typesOf.get(type);
  return types?.[amount < 0 ? 0 : 1] ?? "adjustment";
}

function objectOf({ source }: Stripe.BalanceTransaction, moved: MovedObject | undefined): string | undefined {
  if (moved) return moved.object === "payment" ? undefined : moved.id;
  return source !== null && typeof source === "object" && source.object === "payout" ? source.id : undefined;
}

/** The amount in the charge's currency, if Stripe has converted it. */
function sourceOf(transaction: Stripe.BalanceTransaction, moved: MovedObject): ProcessorMovement["source"] {
  const { charge } = moved;
  if (charge.currency === transaction.currency) return undefined;
  const currency = charge.currency.toUpperCase();
  const amount = unsignedSource(transaction, moved, currency);
  return { amount: transaction.amount < 0 ? -amount : amount, currency };
}

function unsignedSource(transaction: Stripe.BalanceTransaction, moved: MovedObject, currency: string): bigint {
  if (moved.object === "dispute") return readDispute(moved.dispute, [moved.charge]).amount;
  if (moved.object === "refund") return fromStripe(moved.refund.amount, currency);
  // A partial capture moves what was captured, or all and then the rest back.
  const { amount, amount_captured: captured } = moved.charge;
  const converted = Math.abs(transaction.amount) / (transaction.exchange_rate ?? 1);
  const isWhole = Math.abs(amount - converted) < Math.abs(captured - converted);
  return fromStripe(isWhole ? amount : captured, currency);
}

async function readPayoutPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  since: Date | undefined,
  after: string,
): Promise<ListPage<ProcessorPayout>> {
  const page = await sdk.payouts.list(windowOf(since, after), call);
  return { items: page.data.map(readPayout), next: nextOf(page) };
}

/** Others are pending. */
const payoutStatuses: Readonly<Record<string, PayoutStatus>> = {
  in_transit: "in_transit",
  paid: "paid",
  failed: "failed",
  canceled: "failed",
};

function readPayout(payout: Stripe.Payout): ProcessorPayout {
  const currency = payout.currency.toUpperCase();
  const isCanceled = payout.status === "canceled";
  return {
    ref: payout.id,
    amount: fromStripe(payout.amount, currency),
    currency,
    status: payoutStatuses[payout.status] ?? "pending",
    createdAt: dateOf(payout.created),
    arrivesAt: dateOf(payout.arrival_date),
    statementDescriptor: payout.statement_descriptor ?? "",
    failureMessage: payout.failure_message ?? payout.failure_code ?? (isCanceled ? "The payout was canceled." : ""),
  };
}

/** Stripe assigns transactions to automatic payouts only, some time after it made them. */
async function readPayoutLines(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  ref: string,
  after: string,
): Promise<ProcessorAnswer<ListPage<string>>> {
  if (after === "") {
    const payout = await queryAnswer(sdk.payouts.retrieve(ref, {}, call));
    if (!isKnown(payout)) return payout;
    const { reconciliation_status: status } = payout.value;
    const none = { items: [], next: "" };
    if (status === "not_applicable") return { kind: "succeeded", value: none };
    if (status !== "completed") return { kind: "pending", value: none };
  }
  const listed = await queryAnswer(sdk.balanceTransactions.list({ ...windowOf(undefined, after), payout: ref }, call));
  return mapAnswer(listed, (page) => {
    const lines = page.data.filter((transaction) => transaction.type !== "payout" && isOfPayments(transaction));
    return { items: lines.map(({ id }) => id), next: nextOf(page) };
  });
}

function balancesIn({ available, pending, connect_reserved: reserved = [] }: Stripe.Balance): ProcessorBalance[] {
  const currencies = new Set([...available, ...pending, ...reserved].map(({ currency }) => currency));
  return [...currencies].map((currency) => {
    const sumOf = (parts: readonly { readonly amount: number; readonly currency: string }[]) =>
      parts.reduce((sum, part) => sum + (part.currency === currency ? part.amount : 0), 0);
    const inIso = (amount: number) => fromStripe(amount, currency.toUpperCase());
    return {
      currency: currency.toUpperCase(),
      available: inIso(sumOf(available)),
      pending: inIso(sumOf(pending)),
      reserved: inIso(sumOf(reserved)),
    };
  });
}
