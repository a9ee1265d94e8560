// A payment without a session: by the token of a card that the processor has, with every test card, under a key or
// without one, repeated, with a changed body, and with a key that another operation has used.
import type { Answer } from "../harness/api.ts";
import { cardToken } from "../harness/pay.ts";
import { playAfterwards } from "./afterwards.ts";
import { keyOf } from "./order-key.ts";
import { untilAnswered } from "./persistent-client.ts";
import { cardWeights, simulatorTill } from "./simulator-till.ts";
import {
  askUnderKey,
  drawOrder,
  newPaying,
  type Order,
  type Paying,
  recordPaid,
  type Story,
  sendChangedBody,
} from "./story.ts";
import { stripeTill, tokenWeights } from "./stripe-till.ts";

const path = "/v1/payments";
/** How long a payment with a wrong token is asked for: one whose refusal got lost is 502 from then on. */
const wrongMs = 3_000;

export async function playToken(story: Story): Promise<void> {
  const { shop, run, random, seen, name } = story;
  const token = await drawToken(story);
  if (!token) return;
  const order = drawOrder(story);
  // In no other request: whether the processor did this one can be seen there.
  const description = `token-${name}`;
  const body = { ...order, payment_method: token, description, metadata: { story: name } };
  const key = story.hasOrderKey || random.chance(0.7) ? { "idempotency-key": keyOf(story, "token") } : undefined;
  if (key && story.hasOrderKey && !(await useKeyElsewhere(story, order, key))) return;
  const post = () => shop.api.post(path, body, key);
  const ask = () => run.honesty.ask("payment", description, post);
  seen.creations += 1;
  const statuses = { good: 201, refusals: [409, 502, 503] };
  const answer = await askUnderKey(story, { what: "paying by token", ask, hasKey: !!key, doubled: 0.15, ...statuses });
  if (!answer) return;
  const payment = paymentOf(story, order, answer);
  seen.payments.set(payment.paymentId, payment);
  if (answer.at("status") === "succeeded") recordPaid(story, payment, "answer");
  if (key) story.answered.push({ operation: "create_payment", key: key["idempotency-key"], ask: post, first: answer });
  const changed = () => shop.api.post(path, { ...body, metadata: { story: "changed" } }, key);
  if (key && random.chance(0.2)) await sendChangedBody(story, changed);
  if (random.chance(0.5)) await playAfterwards(story, payment);
}

/**
 * At the account that is the merchant's default: with failover it may be paid elsewhere, which does not know the token.
 */
async function drawToken({ shop, run, random }: Story): Promise<string | undefined> {
  if (!shop.simulator) return random.pick(tokenWeights);
  const { account } = shop.simulator;
  const made = () => cardToken(run.rig.running.stack.processor, account, random.pick(cardWeights));
  return await made().catch(() => undefined);
}

function paymentOf(story: Story, order: Order, answer: Answer): Paying {
  const connector = answer.at("connector") === "stripe" ? "stripe" : "simulator";
  const till = connector === "stripe" ? stripeTill(story.shop) : simulatorTill(story.shop, "");
  const [paymentId, intentId] = [answer.text("id"), String(answer.at("connector_ref") ?? "")];
  return newPaying(story, order, {
    ...{ paymentId, intentId, connector, till },
    ...{ sessionId: "", confirmPath: "", resolvePath: "" },
  });
}

/**
 * A session under the key that the payment will have, and sometimes the payment with a wrong token at the same time:
 * one key on two operations is two keys, and a refusal frees its own. @returns false: the wrong one got another answer
 */
async function useKeyElsewhere(
  { shop, random, seen, name, answered, patience }: Story,
  order: Order,
  headers: { readonly "idempotency-key": string },
): Promise<boolean> {
  const body = { ...order, success_url: "https://shop.example/thanks" };
  const ask = () => shop.api.post("/v1/checkout-sessions", body, headers);
  // Since a refusal frees the key, a repeat of one whose answer was lost makes another payment, which is refused, too.
  const wrong = () => {
    seen.creations += 1;
    return shop.api.post(path, { ...order, payment_method: "pm_wrong" }, headers);
  };
  const isWrong = random.chance(0.5);
  seen.count();
  seen.creations += 1;
  const [refused, first] = await Promise.all([
    isWrong ? untilAnswered(wrong, { limitMs: wrongMs, pauseMs: patience.pauseMs }) : undefined,
    untilAnswered(ask, patience),
  ]);
  if (first?.at("error.code") === "idempotency_key_reuse") seen.offence(name, "one key on two operations is one key");
  if (first?.status === 201)
    answered.push({ operation: "create_session", key: headers["idempotency-key"], ask, first });
  return !isWrong || refused?.status === 400;
}
