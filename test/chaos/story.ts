// One story of a run: a payment's life, or the actions of an operator or a clock, decided by a seed. The state that
// stories share, and the choice of the next story.
import type { Answer } from "../harness/api.ts";
import type { Drawn } from "./drawn.ts";
import type { FaultName } from "./fault-table.ts";
import type { Honesty } from "./honesty.ts";
import { type Patience, tryOnce, untilAnswered } from "./persistent-client.ts";
import type { Random } from "./random.ts";
import type { Seen, SeenPayment } from "./seen.ts";
import type { Shop } from "./shop.ts";
import type { WideRig } from "./wide-rig.ts";

/** A request that was answered under a key. */
export interface KeyedAnswer {
  /** As the services name it in their rows of keys. */
  readonly operation: "create_session" | "create_payment" | "capture_payment" | "cancel_payment" | "refund_payment";
  readonly key: string;
  readonly ask: () => Promise<Answer>;
  readonly first: Answer;
}

/** State that all stories of a run share. */
export interface Run {
  readonly rig: WideRig;
  readonly drawn: Drawn;
  readonly honesty: Honesty;
  /** Payments whose webhooks are kept back so far; each takes one of the processor's fault switches. */
  held: number;
  /** Items in the operators' list at the start, from an earlier run on the same books. */
  readonly listedBefore: ReadonlySet<string>;
}

export interface Story {
  readonly run: Run;
  readonly shop: Shop;
  readonly random: Random;
  readonly seen: Seen;
  /** Names the story within the run; part of its idempotency keys. */
  readonly name: string;
  /** Its merchant takes the order's number as the key of everything that becomes of the order. */
  readonly hasOrderKey: boolean;
  /** Answers under idempotency keys so far. */
  readonly answered: KeyedAnswer[];
  readonly patience: Patience;
}

/** Where the buyer of one payment, that buyer's bank and the processor's dashboard act. */
export interface Till {
  /** The buyer tries to pay. @returns true: the processor reported that it is paid */
  attempt(story: Story, payment: SeenPayment): Promise<boolean>;
  /** At the dashboard. @returns the refund's id, undefined when the processor refused */
  refund(payment: SeenPayment, amount: number, isPending: boolean): Promise<string | undefined>;
  /** @returns false: the processor refused */
  moveRefund(payment: SeenPayment, refund: string, to: "succeeded" | "failed" | "canceled"): Promise<boolean>;
  dispute(payment: SeenPayment, status: string, amount: number | undefined): Promise<string | undefined>;
  moveDispute(payment: SeenPayment, dispute: string, to: string): Promise<void>;
  /** A bank returns a successful debit. @returns false: there is no debit, or it is refunded or disputed */
  returnDebit(payment: SeenPayment): Promise<boolean>;
  /** Of what is authorized, at the dashboard. @returns false: the processor refused */
  capture(payment: SeenPayment, amount: number): Promise<boolean>;
  /** Writes another reference to what is paid or authorized. @returns false: it is neither */
  rename(story: Story, payment: SeenPayment, reference: string): Promise<boolean>;
  /** The authorization expires. @returns false: it is not authorized (any more) */
  lapse(payment: SeenPayment): Promise<boolean>;
}

/** A payment in the hands of its story. */
export interface Paying extends SeenPayment {
  readonly mishaps: Set<FaultName>;
  till: Till;
  connector: "simulator" | "stripe";
  /** Of the session's confirm; empty for a payment by token. */
  readonly confirmPath: string;
  /** Of the session, as its browser reads it; empty: it has none. */
  readonly resolvePath: string;
}

export type Order = { readonly amount: number; readonly currency: string; readonly capture_method?: "manual" };
/** Of payments that are captured later. */
const heldShare = 0.3;

const currencies = [
  ["EUR", 4],
  ["USD", 4],
  ["JPY", 1],
  ["KRW", 1],
  ["KWD", 1],
  ["BHD", 1],
] as const;
const stripeCurrencies = [
  ["EUR", 4],
  ["USD", 4],
  ["JPY", 1],
  ["KWD", 1],
] as const;
/** The largest amount of a payment. */
export const amountMax = 99_999_999;
/** Stripe's least amount, and a unit in which it takes every currency: dinars by ten fils. */
const stripeMin = 50;
const stripeUnit = 10;

/** Amounts from one minor unit up to the limit, more of the small ones. */
export function drawOrder({ random, shop }: Story): Order {
  const magnitude = random.pick([
    [5_000, 60],
    [100_000, 20],
    [amountMax, 15],
  ] as const);
  const edge = random.chance(0.06)
    ? random.pick([
        [1, 1],
        [amountMax, 1],
      ] as const)
    : undefined;
  const amount = edge ?? random.int(1, magnitude);
  const held = random.chance(heldShare) ? { capture_method: "manual" as const } : {};
  if (!shop.stripe) return { amount, currency: random.pick(currencies), ...held };
  const rounded = amount - (amount % stripeUnit);
  return { amount: Math.max(stripeMin, rounded), currency: random.pick(stripeCurrencies), ...held };
}

/** Of an answer that is final and no success: whether an operator's change explains it. */
export function isRefusedByOperator({ shop }: Story, answer: Answer): boolean {
  return shop.refusals.has(String(answer.at("error.code")));
}

/** Records a client's answer, unless a fault of the processor invalidates it. */
export function recordPaid(story: Story, payment: SeenPayment, by: "answer" | "processor"): void {
  if (payment.mishaps && payment.mishaps.size > 0) return;
  if (by === "processor") {
    payment.knownPaid = true;
    return;
  }
  if (!payment.reportedPaid) story.seen.paidCount += 1;
  payment.reportedPaid = true;
}

export async function atOnce(times: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: times }, work));
}

/** A payment that was just made. */
export function newPaying(
  { name }: Story,
  { amount, currency, capture_method }: Order,
  made: Pick<Paying, "paymentId" | "sessionId" | "intentId" | "connector" | "till" | "confirmPath" | "resolvePath">,
): Paying {
  const nothingSeen = { reportedPaid: false, knownPaid: false, reportedExpired: false, refunds: [] };
  return {
    amount,
    currency,
    isHeld: capture_method === "manual",
    ...nothingSeen,
    mishaps: new Set(),
    story: name,
    ...made,
  };
}

export interface KeyedRequest {
  /** For messages. */
  readonly what: string;
  readonly ask: () => Promise<Answer>;
  /** Without a key it is sent once. */
  readonly hasKey: boolean;
  /** How often it is sent twice at once. */
  readonly doubled: number;
  readonly good: number;
  /** Other statuses that are possible. */
  readonly refusals: readonly number[];
}

/** Sends a request until it is answered. @returns the good answer, which under one key is the same for all */
export async function askUnderKey(story: Story, request: KeyedRequest): Promise<Answer | undefined> {
  const { random, seen, name, patience } = story;
  const { what, ask, hasKey, doubled, good, refusals } = request;
  const calls = hasKey && random.chance(doubled) ? 2 : 1;
  const send = () => (hasKey ? untilAnswered(ask, patience, what) : tryOnce(ask));
  seen.count();
  const answers = await Promise.all(Array.from({ length: calls }, send));
  for (const one of answers) {
    if (one && ![good, ...refusals].includes(one.status) && !isRefusedByOperator(story, one))
      seen.offence(name, `${what} answered ${one}`);
  }
  const done = answers.filter((one) => one?.status === good);
  if (done.some((one) => one?.raw !== done[0]?.raw)) seen.offence(name, `one key, two answers: ${what}`);
  return done[0];
}

/** A used key with another body is rejected and changes nothing. */
export async function sendChangedBody({ seen, name, patience }: Story, ask: () => Promise<Answer>): Promise<void> {
  seen.count();
  const answer = await untilAnswered(ask, patience);
  if (answer && answer.at("error.code") !== "idempotency_key_reuse")
    seen.offence(name, `a changed body under one key answered ${answer}`);
}
