// Changes that the processor makes to one payment on its own: a driver for each payment row of the fault table. Each
// counts itself when the processor did it.
import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../harness/api.ts";
import type { WalkFault } from "./fault-table.ts";
import { changeFees } from "./operator-story.ts";
import { declineOnce, endPage } from "./page-story.ts";
import { tryOnce } from "./persistent-client.ts";
import type { SeenPayment } from "./seen.ts";
import type { Paying, Story } from "./story.ts";

/** @returns false: the processor could not, for example because nothing is paid yet. */
type Driver = (story: Story, payment: Paying) => Promise<boolean>;

export const paymentFaults = {
  "refund fails later": async (_story, payment) => {
    const [ref] = refundRefs(payment);
    return ref !== undefined && (await payment.till.moveRefund(payment, ref, "failed"));
  },
  "several disputes": async ({ random }, payment) => {
    const quarter = Math.max(1, Math.floor(payment.amount / 4));
    const first = await payment.till.dispute(payment, "needs_response", quarter);
    const second = first && (await payment.till.dispute(payment, "needs_response", quarter));
    if (!second) return false;
    await payment.till.moveDispute(payment, first, random.chance(0.5) ? "won" : "lost");
    if (random.chance(0.5)) await payment.till.moveDispute(payment, second, random.chance(0.5) ? "won" : "lost");
    return true;
  },
  "debit returned": async (_story, payment) =>
    await mishap(payment, "debit returned", () => payment.till.returnDebit(payment)),
  "paid again after a return": async (story, payment) =>
    await mishap(payment, "paid again after a return", () => payAgain(story, payment)),
  // Later changes at the processor still belong to this payment.
  "reference changed": async (story, payment) => {
    const { random, seen } = story;
    const paid = [...seen.payments.values()].filter((one) => one !== payment && (one.reportedPaid || one.knownPaid));
    const other =
      paid.length > 0 && random.chance(0.5) ? random.pick(paid.map((one) => [one.paymentId, 1] as const)) : "";
    if (payment.intentId === "" || !(await payment.till.rename(story, payment, other))) return false;
    await payment.till.refund(payment, partialAmount(story, payment), false);
    const dispute = random.chance(0.6) ? await payment.till.dispute(payment, "needs_response", undefined) : undefined;
    if (dispute) await payment.till.moveDispute(payment, dispute, random.chance(0.5) ? "lost" : "won");
    return true;
  },
  "amounts that differ": async (story, payment) => {
    const amount = story.random.int(1, payment.amount + 1);
    if (amount === payment.amount) return false;
    return await mishap(payment, "amounts that differ", () =>
      story.random.chance(0.3) ? inOtherCurrency(story, payment) : atSimulator(story, payment, "amount", { amount }),
    );
  },
  // The payment stays as it was: what is done a second time is unexpected funds.
  "second charge": async (story, payment) => (await atSimulator(story, payment, "duplicate", {})) === true,
  // Of the first refund that leaves room for one more unit.
  "second refund": async ({ shop }, payment) => {
    for (const ref of refundRefs(payment)) {
      const path = `/test/refunds/${ref}/duplicate`;
      if (isThere(await tryOnce(async () => await shop.simulator?.api.post(path, { amount: 1 })))) return true;
    }
    return false;
  },
  // The payment is paid as it was; what its clients asked for may be refused.
  "captured at the dashboard": async (story, payment) =>
    await payment.till.capture(payment, partialAmount(story, payment)),
  "captured again": async (story, payment) => {
    if (story.random.chance(0.5)) await changeFees(story);
    return await mishap(payment, "captured again", () => atSimulator(story, payment, "capture-more", {}));
  },
  "excess capture": async (story, payment) =>
    await mishap(payment, "excess capture", () =>
      atSimulator(story, payment, "capture-more", { amount: story.random.int(1, payment.amount) + payment.amount }),
    ),
  "authorization lapses": async (_story, payment) => await payment.till.lapse(payment),
  "declined at one account": declineOnce,
  "page ends early": endPage,
  "intent lost for good": async (story, payment) =>
    await mishap(payment, "intent lost for good", () => atSimulator(story, payment, "lose", {})),
  "events held": (story, payment) => hold(story, payment, {}),
} satisfies Partial<Record<WalkFault, Driver>>;
type PaymentFault = keyof typeof paymentFaults;

/** @param only `count` of the webhooks; absent: all */
async function hold({ run, shop }: Story, { paymentId }: Paying, only: { readonly count?: number }): Promise<boolean> {
  if (run.held >= heldMax) return false;
  const fault = { target: "webhooks", kind: "hold", reference: paymentId, ...only };
  const isHeld = isThere(await tryOnce(async () => await shop.simulator?.api.put("/test/faults", fault)));
  if (isHeld) run.held += 1;
  return isHeld;
}

/** The services learn of the capture after the fees have changed. */
export async function beforeFeesChange<T>(story: Story, payment: Paying, capture: () => Promise<T>): Promise<T> {
  await hold(story, payment, { count: 1 });
  const done = await capture();
  await changeFees(story);
  return done;
}

/**
 * A capture whose webhook is held; its debit comes back, its buyer pays again, and only then the webhook comes.
 * @returns false: it is not authorized, or not at the simulator
 */
async function payAgain(story: Story, payment: Paying): Promise<boolean> {
  const { shop, random, seen, patience } = story;
  const { till, intentId, paymentId } = payment;
  const { simulator } = shop;
  if (!simulator || !payment.isHeld || payment.connector !== "simulator") return false;
  await hold(story, payment, { count: 1 });
  if (!(await till.capture(payment, payment.amount)) || !(await till.returnDebit(payment))) return false;
  const events = await tryOnce(() => simulator.api.get(`/test/events?intent=${intentId}`));
  for (let tries = 0; tries < 3; tries++) {
    seen.count();
    await till.attempt(story, payment);
  }
  const isKnown = (answer: Answer | undefined) =>
    answer?.at("status") === "succeeded" && answer.at("captured_at") === undefined;
  const read = () => shop.api.get(`/v1/payments/${paymentId}`);
  for (let tries = 0; tries < readsMax && !isKnown(await tryOnce(read)); tries++) await pause(patience.pauseMs);
  const listed = events?.status === 200 ? events.list("data") : [];
  const captured = listed.find((one) => (one as { type?: string }).type === "intent.succeeded");
  const { id } = (captured ?? {}) as { id?: string };
  if (id) await tryOnce(() => simulator.api.post(`/test/events/${id}/resend`, {}));
  if (random.chance(0.5)) await till.capture(payment, payment.amount);
  return true;
}

/** So long a payment that was paid again is waited for. */
const readsMax = 10;
/** A part of the amount, or all; Stripe accepts dinars in steps of ten fils. */
export function partialAmount({ random }: Story, { amount }: Paying): number {
  const drawn = random.int(1, amount + 1);
  return drawn < 10 ? amount : drawn - (drawn % 10);
}

/** Each takes one of the processor's hundred fault switches. */
const heldMax = 40;
const firstShare = 0.4;
const laterShare = 0.15;
/** Of the stories of payments that go on after they were paid. */
const weights: readonly (readonly [PaymentFault, number])[] = [
  ["refund fails later", 6],
  ["several disputes", 4],
  ["debit returned", 3],
  ["reference changed", 6],
  ["second charge", 2],
  ["excess capture", 1],
  ["second refund", 6], // few have a refund that leaves room
  ["intent lost for good", 1],
];

/** How often something happens to a payment later: more often while something never has. */
export function faultShare({ run }: Story): number {
  return weights.some(([name]) => run.drawn.awaits(name)) ? firstShare : laterShare;
}

/** One of those that happen to payments later, if the run draws it. */
export async function drawPaymentFault(story: Story, payment: Paying): Promise<void> {
  const name = story.random.pick(story.run.drawn.eager(weights));
  await applyPaymentFault(story, payment, name);
}

/** Before anybody has paid. */
export async function drawOtherAmount(story: Story, payment: Paying): Promise<void> {
  await applyPaymentFault(story, payment, "amounts that differ");
}

/** The same; its buyer goes on at the merchant's other processor. */
export async function drawDecline(story: Story, payment: Paying): Promise<void> {
  await applyPaymentFault(story, payment, "declined at one account");
}

/** The same; its buyer goes on at another page. */
export async function drawPageEnd(story: Story, payment: Paying): Promise<void> {
  await applyPaymentFault(story, payment, "page ends early");
}

/** "Never" of a webhook: it is held until the run has ended. */
export async function holdEvents(story: Story, payment: Paying): Promise<void> {
  await applyPaymentFault(story, payment, "events held");
}

export async function applyPaymentFault(story: Story, payment: Paying, name: PaymentFault): Promise<void> {
  const { drawn } = story.run;
  if (!drawn.may(name)) return;
  story.seen.count();
  if (await paymentFaults[name](story, payment)) drawn.count(name);
}

/**
 * Invalidates what clients saw before: later answers are not compared.
 * @param act undefined: it may have happened, since its answer was lost
 */
async function mishap(payment: Paying, name: WalkFault, act: () => Promise<boolean | undefined>): Promise<boolean> {
  payment.mishaps.add(name); // before the call: a pending answer may be from before or after it
  const isDone = await act();
  if (isDone === false) payment.mishaps.delete(name);
  else {
    payment.reportedPaid = payment.knownPaid = payment.reportedExpired = payment.reportedCanceled = false;
    payment.reportedCaptured = undefined;
  }
  return isDone === true;
}

async function inOtherCurrency({ run }: Story, { intentId, currency }: Paying): Promise<boolean | undefined> {
  const changed = `update intents set currency = $2, version = version + 1
    where id = $1 and status = 'requires_payment_method' returning id`;
  const other = currency === "EUR" ? "USD" : "EUR";
  const rows = await tryOnce(() => run.rig.books.simulator.rows(changed, [intentId, other]));
  return rows && rows.length === 1;
}

/** Undefined: the answer was lost. */
async function atSimulator(
  { shop }: Story,
  { intentId }: Paying,
  action: string,
  body: object,
): Promise<boolean | undefined> {
  const { simulator } = shop;
  if (!simulator) return false;
  const answer = await tryOnce(() => simulator.api.post(`/test/intents/${intentId}/${action}`, body));
  return answer && answer.status < 500 ? isThere(answer) : undefined;
}

/** Refunds that the processor reported. */
function refundRefs({ refunds }: SeenPayment): string[] {
  const refs = refunds.flatMap(({ answers }) => answers.map((answer) => answer.at("connector_ref")));
  return refs.filter((ref): ref is string => typeof ref === "string" && ref !== "");
}

function isThere(answer: { readonly status: number } | undefined): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300;
}
