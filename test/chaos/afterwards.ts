// Steps after a payment, partly concurrent: refunds by the merchant and at the processor's dashboard, disputes, reads,
// lists, and changes that the processor makes on its own.
import { endAuthorization } from "./authorization-story.ts";
import { answerDispute } from "./dispute-answers.ts";
import { keyOf } from "./order-key.ts";
import { drawPaymentFault, faultShare } from "./payment-faults.ts";
import { tryOnce, untilAnswered } from "./persistent-client.ts";
import type { RefundRequest } from "./seen.ts";
import { atOnce, isRefusedByOperator, type Paying, recordPaid, type Story } from "./story.ts";

const refundsMax = 5;
const paidStatuses = ["succeeded", "partially_refunded", "refunded", "disputed"];

export async function playAfterwards(story: Story, payment: Paying): Promise<void> {
  const { random } = story;
  const steps: (() => Promise<unknown>)[] = [];
  const refunds = random.int(0, refundsMax);
  for (let i = 0; i < refunds; i++) steps.push(() => refund(story, payment, i));
  if (payment.isHeld) steps.splice(random.int(0, 2), 0, () => endAuthorization(story, payment));
  if (random.chance(0.2)) steps.push(() => dashboardRefund(story, payment));
  if (random.chance(0.15)) steps.push(() => dispute(story, payment));
  if (random.chance(0.2)) steps.push(() => read(story, payment));
  if (random.chance(0.1)) steps.push(() => list(story));
  if (random.chance(faultShare(story))) steps.push(() => drawPaymentFault(story, payment));
  while (steps.length > 0) {
    await Promise.all(steps.splice(0, random.int(1, 3)).map((step) => step()));
  }
}

async function refund(story: Story, payment: Paying, index: number): Promise<void> {
  const { run, shop, random, seen, name, patience } = story;
  const key = story.hasOrderKey || random.chance(0.7) ? keyOf(story, "refund", index) : "";
  // In no other request: whether the processor did this one can be seen there.
  const reason = `refund-${name}-${index}`;
  const body = random.chance(0.3) ? { reason } : { amount: random.int(1, payment.amount), reason };
  const headers = key ? { "idempotency-key": key } : undefined;
  const path = `/v1/payments/${payment.paymentId}/refunds`;
  const post = () => shop.api.post(path, body, headers);
  const ask = () => run.honesty.ask("refund", reason, post);
  const request: RefundRequest = { key, answers: [] };
  payment.refunds.push(request);
  const calls = key && random.chance(0.3) ? 2 : 1;
  await atOnce(calls, async () => {
    seen.count();
    const answer = key ? await untilAnswered(ask, patience, "refunding") : await tryOnce(ask);
    if (answer?.status === 201) request.answers.push(answer);
    else if (answer?.status === 400 && isUnevenDinar(payment, body)) return;
    else if (answer && ![404, 409, 422, 502, 503].includes(answer.status) && !isRefusedByOperator(story, answer))
      seen.offence(name, `refunding answered ${answer}`);
  });
  const [first] = request.answers;
  if (key && first) story.answered.push({ operation: "refund_payment", key, ask: post, first });
  if (!key || !random.chance(0.1)) return;
  seen.count();
  const changed = { ...body, reason: "changed" };
  const answer = await untilAnswered(() => shop.api.post(path, changed, headers), patience);
  // A key whose first request was refused before it claimed anything is free.
  if (answer?.status === 201 && request.answers.length > 0)
    seen.offence(name, `a changed body under one key answered ${answer}`);
  else if (answer?.status === 201) request.answers.push(answer);
}

/** Stripe's amounts in dinars end in 0 (https://docs.stripe.com/currencies, three-decimal currencies). */
function isUnevenDinar({ currency }: Paying, { amount = 0 }: { readonly amount?: number }): boolean {
  return currency === "KWD" && amount % 10 !== 0;
}

async function dashboardRefund({ random, seen }: Story, payment: Paying): Promise<void> {
  seen.count();
  const isPending = random.chance(0.2);
  const made = await payment.till.refund(payment, random.int(1, payment.amount), isPending);
  if (!made || !(isPending || random.chance(0.3))) return;
  seen.count();
  const ends = [
    ["succeeded", 1],
    ["failed", 1],
    ["canceled", 1],
  ] as const;
  await payment.till.moveRefund(payment, made, isPending ? random.pick(ends) : "failed");
}

async function dispute(story: Story, payment: Paying): Promise<void> {
  const { random, seen } = story;
  seen.count();
  const status = random.chance(0.3) ? "warning_needs_response" : "needs_response";
  const amount = random.chance(0.5) ? random.int(1, payment.amount) : undefined;
  const made = await payment.till.dispute(payment, status, amount);
  if (!made) return;
  if (random.chance(0.6)) return await answerDispute(story, payment);
  const moves = [
    ["warning_under_review", 1],
    ["warning_closed", 1],
    ["needs_response", 2],
    ["under_review", 2],
    ["won", 3],
    ["lost", 2],
  ] as const;
  for (let left = random.int(0, 4); left > 0; left--) {
    seen.count();
    await payment.till.moveDispute(payment, made, random.pick(moves));
  }
}

async function read(story: Story, payment: Paying): Promise<void> {
  const { shop, seen, name, patience } = story;
  seen.count();
  const answer = await untilAnswered(() => shop.api.get(`/v1/payments/${payment.paymentId}`), patience, "reading");
  if (answer && ![200, 404].includes(answer.status)) seen.offence(name, `reading answered ${answer}`);
  if (answer?.status === 404 && payment.reportedPaid) seen.offence(name, "a paid payment is not found");
  if (paidStatuses.includes(String(answer?.at("status")))) recordPaid(story, payment, "processor");
}

/** A list's total is exact: at least the payments reported paid before it, at most those requested by its end. */
async function list({ shop, seen, name, patience }: Story): Promise<void> {
  seen.count();
  const least = seen.paidCount;
  const answer = await untilAnswered(() => shop.api.get("/v1/payments?limit=1"), patience, "listing");
  if (!answer) return;
  const total = answer.at("total");
  if (typeof total !== "number" || total < least || total > seen.creations)
    seen.offence(
      name,
      `a list's total is ${total}; ${least} payments were reported paid before and ${seen.creations} were requested`,
    );
}
