// A checkout session's life as a seeded driver plays it: created under a key or without one, paid with some card or not
// at all, on the merchant's page or the processor's, confirmed once, twice, at once or never, ended by the merchant.
// Every answer is kept in `seen`.
import type { Answer } from "../harness/api.ts";
import { playAfterwards } from "./afterwards.ts";
import { keyOf } from "./order-key.ts";
import { followMove, paymentPageOf } from "./page-story.ts";
import { beforeFeesChange, drawDecline, drawOtherAmount, drawPageEnd, holdEvents } from "./payment-faults.ts";
import { untilAnswered } from "./persistent-client.ts";
import { simulatorTill } from "./simulator-till.ts";
import {
  askUnderKey,
  atOnce,
  drawOrder,
  newPaying,
  type Order,
  type Paying,
  recordPaid,
  type Story,
  sendChangedBody,
} from "./story.ts";
import { stripeTill } from "./stripe-till.ts";

const attemptsMax = 3;
const heldShare = 0.04;
const otherAmountShare = { first: 0.1, later: 0.03 };
const pageEndShare = 0.05;
const declineShare = { first: 1, later: 0.1 };
/** Of attempts that the services learn of after the fees have changed. */
const lateShare = 0.05;
/** How long an answer is waited for that will not come. */
const unverifiableMs = 3_000;
/** Required by both surfaces of Stripe; never requested. */
const success_url = "https://shop.example/thanks";

interface CreatedSession {
  readonly payment: Paying;
  readonly order: Order;
  readonly key: Record<string, string> | undefined;
}

export async function playSession(story: Story): Promise<void> {
  const created = await create(story);
  if (!created) return;
  const { payment } = created;
  const { random } = story;
  if (random.chance(heldShare)) await holdEvents(story, payment);
  const isFirst = story.run.drawn.awaits("amounts that differ");
  if (random.chance(isFirst ? otherAmountShare.first : otherAmountShare.later)) await drawOtherAmount(story, payment);
  const confirm = confirmer(story, payment);
  const attempts = random.int(0, attemptsMax);
  for (let i = 0; i < attempts && !payment.reportedPaid; i++) {
    if (random.chance(pageEndShare)) await drawPageEnd(story, payment);
    const isNew = story.run.drawn.awaits("declined at one account");
    if (random.chance(isNew ? declineShare.first : declineShare.later)) await drawDecline(story, payment);
    story.seen.count();
    const attempt = () => payment.till.attempt(story, payment);
    const isLate = random.chance(lateShare);
    if (await (isLate ? beforeFeesChange(story, payment, attempt) : attempt())) recordPaid(story, payment, "processor");
    // The merchant ends what the buyer's bank has not decided yet.
    if (random.chance(0.05)) await expire(story, payment);
    if (random.chance(0.75))
      await atOnce(
        random.pick([
          [1, 6],
          [2, 2],
          [3, 1],
        ] as const),
        confirm,
      );
  }
  const { order, key } = created;
  const changed = { ...order, success_url, description: "changed" };
  const ask = () => story.shop.api.post("/v1/checkout-sessions", changed, key);
  if (key && random.chance(0.15)) await sendChangedBody(story, ask);
  if (random.chance(0.6)) await playAfterwards(story, payment);
  if (random.chance(0.15)) await Promise.all([expire(story, payment), random.chance(0.5) ? confirm() : undefined]);
}

async function create(story: Story): Promise<CreatedSession | undefined> {
  const { shop, random, seen } = story;
  const order = drawOrder(story);
  const body = { ...order, success_url };
  const key = story.hasOrderKey || random.chance(0.8) ? { "idempotency-key": keyOf(story, "create") } : undefined;
  const ask = () => shop.api.post("/v1/checkout-sessions", body, key);
  seen.creations += 1;
  const statuses = { good: 201, refusals: [409, 502, 503] };
  const answer = await askUnderKey(story, { what: "creating", ask, hasKey: !!key, doubled: 0.1, ...statuses });
  if (!answer) return undefined;
  if (key) story.answered.push({ operation: "create_session", key: key["idempotency-key"], ask, first: answer });
  const payment = paymentOf(story, order, answer);
  seen.payments.set(payment.paymentId, payment);
  return { payment, order, key };
}

function paymentOf(story: Story, order: Order, answer: Answer): Paying {
  const sessionId = answer.text("id");
  const isStripe = answer.at("connector") === "stripe";
  const { intentId, page } = paymentPageOf(answer);
  const secret = `secret=${answer.text("session_secret")}`;
  return newPaying(story, order, {
    sessionId,
    paymentId: `pay_${sessionId.slice("cs_".length)}`,
    intentId,
    connector: isStripe ? "stripe" : "simulator",
    till: isStripe ? stripeTill(story.shop) : simulatorTill(story.shop, page),
    confirmPath: `/v1/checkout/${sessionId}/confirm?${secret}`,
    resolvePath: `/v1/checkout/${sessionId}?${secret}`,
  });
}

function confirmer({ run, seen, name, patience, ...story }: Story, payment: Paying): () => Promise<void> {
  return async () => {
    seen.count();
    const ask = () => run.rig.buyer.post(payment.confirmPath);
    const answer = await untilAnswered(ask, verifying(payment, patience), "confirming");
    if (answer && ![200, 410].includes(answer.status)) seen.offence(name, `confirming answered ${answer}`);
    if (answer?.at("render_replaced") === true) await followMove({ run, seen, name, patience, ...story }, payment);
    if (answer?.at("status") !== "completed") return;
    recordPaid({ run, seen, name, patience, ...story }, payment, "answer");
    const isPayment = answer.at("payment_id") === payment.paymentId;
    if (!isPayment) seen.offence(name, `confirming answered ${answer} for ${payment.paymentId}`);
  };
}

/**
 * An intent that is not the one that was asked for is never finalized: its session has connector_error until an
 * operator ends it.
 */
function verifying({ mishaps }: Paying, patience: Story["patience"]): Story["patience"] {
  const isUnverifiable = () => mishaps.has("amounts that differ") || mishaps.has("intent lost for good");
  const limitMs = isUnverifiable() ? unverifiableMs : patience.limitMs;
  return { ...patience, limitMs, onGiveUp: (last) => void (isUnverifiable() || patience.onGiveUp?.(last)) };
}

async function expire({ shop, seen, name, patience }: Story, payment: Paying): Promise<void> {
  seen.count();
  const ask = (): Promise<Answer> => shop.api.post(`/v1/checkout-sessions/${payment.sessionId}/expire`);
  const answer = await untilAnswered(ask, verifying(payment, patience), "expiring");
  if (answer && answer.status !== 200) seen.offence(name, `expiring answered ${answer}`);
  if (answer?.at("status") === "expired") payment.reportedExpired = true;
}
