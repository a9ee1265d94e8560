// One payment's life as a seeded driver plays it: created, paid with some card or not at all, confirmed once, twice, at once or
// never, refunded by the merchant and at the dashboard, disputed, expired. Every answer is kept in `seen`.
import type { Answer } from "../harness/api.ts";
import { answerChallenge, cards, pay } from "../harness/pay.ts";
import type { MoneyRig } from "./money-rig.ts";
import { once, type Patience, untilAnswered } from "./persistent-client.ts";
import type { Random } from "./random.ts";
import type { AskedRefund, Seen, SeenPayment } from "./seen.ts";

export interface Story {
  readonly rig: MoneyRig;
  readonly random: Random;
  readonly seen: Seen;
  /** Names the story within the run; part of its idempotency keys. */
  readonly name: string;
  readonly patience: Patience;
  /** Asked once per story: true keeps the processor's webhooks for its payment back. */
  readonly withholds: () => boolean;
}

const currencies = [
  ["EUR", 4],
  ["USD", 4],
  ["JPY", 1],
  ["KWD", 1],
] as const;
const cardWeights = [
  [cards.succeeds, 50],
  [cards.declined, 12],
  ["4000000000009995", 4],
  [cards.needsChallenge, 12],
  [cards.declinedAfterChallenge, 4],
  [cards.asynchronous, 6],
  [cards.disputedLater, 4],
  [cards.refundFailsLater, 6],
  ["4100000000000019", 2],
  ["4000000000006306", 4],
  ["4000000000006207", 1],
] as const;
/** Between two tries of a request. */
const pauseMs = 150;
const attemptsMax = 3;
const refundsMax = 5;
const amountMax = 5_000;

/** @param played.patienceMs how long a request is repeated that got no final answer. */
export async function playPayment(played: Omit<Story, "patience"> & { readonly patienceMs: number }): Promise<void> {
  const onGivenUp = (last: string) => played.seen.offence(played.name, `still no final answer: ${last}`);
  const story: Story = { ...played, patience: { limitMs: played.patienceMs, pauseMs, onGivenUp } };
  const payment = await create(story);
  if (!payment) return;
  const { random } = story;
  if (story.withholds()) await withhold(story, payment);
  const confirm = confirmer(story, payment);
  const attempts = random.int(0, attemptsMax);
  for (let i = 0; i < attempts && !payment.toldPaid; i++) {
    await attempt(story, payment);
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
  if (random.chance(0.6)) await afterwards(story, payment);
  if (random.chance(0.15)) await Promise.all([expire(story, payment), random.chance(0.5) ? confirm() : undefined]);
}

interface Paid extends SeenPayment {
  readonly frameUrl: string;
  readonly confirmPath: string;
}

async function create(story: Story): Promise<Paid | undefined> {
  const { rig, random, seen, name, patience } = story;
  const order = { amount: random.int(1, amountMax), currency: random.pick(currencies) };
  const key = random.chance(0.8) ? { "idempotency-key": `create-${name}` } : undefined;
  const ask = () => rig.merchant.post("/v1/checkout-sessions", order, key);
  seen.count();
  seen.creations += 1;
  const tries = key && random.chance(0.1) ? 2 : 1;
  const answers = await Promise.all(
    Array.from({ length: tries }, () => (key ? untilAnswered(ask, patience) : once(ask))),
  );
  const answer = answers.find((one) => one?.status === 201);
  for (const one of answers) {
    if (one && ![201, 409, 502, 503].includes(one.status)) seen.offence(name, `creating answered ${one}`);
    if (one?.status === 201 && answer && one.raw !== answer.raw) seen.offence(name, "one key, two sessions");
  }
  if (!answer) return undefined;
  const frameUrl = answer.text("render.frame_url");
  const sessionId = answer.text("id");
  const payment: Paid = {
    ...order,
    sessionId,
    paymentId: `pay_${sessionId.slice("cs_".length)}`,
    intentId: new URL(frameUrl).pathname.split("/").at(-1) ?? "",
    toldPaid: false,
    knownPaid: false,
    toldExpired: false,
    refunds: [],
    story: name,
    frameUrl,
    confirmPath: `/v1/checkout/${sessionId}/confirm?secret=${answer.text("session_secret")}`,
  };
  seen.payments.set(payment.paymentId, payment);
  return payment;
}

/** "Never" of a webhook: it is held until the faults are cleared. */
async function withhold({ rig }: Story, payment: Paid): Promise<void> {
  const fault = { target: "webhooks", kind: "hold", reference: payment.paymentId };
  await once(() => rig.processor.put("/test/faults", fault));
}

async function attempt(story: Story, payment: Paid): Promise<void> {
  const { random, seen } = story;
  seen.count();
  const paid = await once(() => pay(payment.frameUrl, random.pick(cardWeights)));
  if (paid?.at("status") === "succeeded") payment.knownPaid = true;
  const challenge = paid?.at("challenge_url");
  if (typeof challenge !== "string" || random.chance(0.1)) return;
  seen.count();
  const outcome = random.chance(0.8) ? "pass" : "fail";
  const answered = await once(() => answerChallenge(challenge, outcome));
  if (answered?.at("status") === "succeeded") payment.knownPaid = true;
}

function confirmer({ rig, seen, name, patience }: Story, payment: Paid): () => Promise<void> {
  return async () => {
    seen.count();
    const answer = await untilAnswered(() => rig.buyer.post(payment.confirmPath), patience);
    if (answer && ![200, 410].includes(answer.status)) seen.offence(name, `confirming answered ${answer}`);
    if (answer?.at("status") !== "completed") return;
    payment.toldPaid = true;
    const isPayment = answer.at("payment_id") === payment.paymentId;
    if (!isPayment) seen.offence(name, `confirming answered ${answer} for ${payment.paymentId}`);
  };
}

/** What the merchant, the processor's dashboard and the buyer's bank do later, partly at the same time. */
async function afterwards(story: Story, payment: Paid): Promise<void> {
  const { random } = story;
  const steps: (() => Promise<unknown>)[] = [];
  const refunds = random.int(0, refundsMax);
  for (let i = 0; i < refunds; i++) steps.push(() => refund(story, payment, i));
  if (random.chance(0.2)) steps.push(() => dashboardRefund(story, payment));
  if (random.chance(0.15)) steps.push(() => dispute(story, payment));
  if (random.chance(0.2)) steps.push(() => read(story, payment));
  while (steps.length > 0) {
    await Promise.all(steps.splice(0, random.int(1, 3)).map((step) => step()));
  }
}

async function refund(story: Story, payment: Paid, index: number): Promise<void> {
  const { rig, random, seen, name, patience } = story;
  const key = random.chance(0.7) ? `refund-${name}-${index}` : "";
  const body = random.chance(0.3) ? {} : { amount: random.int(1, payment.amount), reason: "requested_by_customer" };
  const headers = key ? { "idempotency-key": key } : undefined;
  const ask = () => rig.merchant.post(`/v1/payments/${payment.paymentId}/refunds`, body, headers);
  const asked: AskedRefund = { key, answers: [] };
  payment.refunds.push(asked);
  const calls = key && random.chance(0.3) ? 2 : 1;
  await atOnce(calls, async () => {
    seen.count();
    const answer = key ? await untilAnswered(ask, patience) : await once(ask);
    if (answer?.status === 201) asked.answers.push(answer);
    else if (answer && ![404, 409, 422, 502, 503].includes(answer.status))
      seen.offence(name, `refunding answered ${answer}`);
  });
}

async function dashboardRefund({ rig, random, seen }: Story, payment: Paid): Promise<void> {
  seen.count();
  const body = { amount: random.int(1, payment.amount), status: random.chance(0.2) ? "pending" : "succeeded" };
  const made = await once(() => rig.processor.post(`/test/intents/${payment.intentId}/refunds`, body));
  if (made?.status !== 201 || !(body.status === "pending" || random.chance(0.3))) return;
  seen.count();
  const to =
    body.status === "pending"
      ? random.pick([
          ["succeeded", 1],
          ["failed", 1],
          ["canceled", 1],
        ] as const)
      : "failed";
  await once(() => rig.processor.post(`/test/refunds/${made.text("id")}`, { status: to, failure_code: "declined" }));
}

async function dispute({ rig, random, seen }: Story, payment: Paid): Promise<void> {
  seen.count();
  const status = random.chance(0.3) ? "warning_needs_response" : "needs_response";
  const amount = random.chance(0.5) ? { amount: random.int(1, payment.amount) } : {};
  const made = await once(() =>
    rig.processor.post(`/test/intents/${payment.intentId}/disputes`, { status, ...amount }),
  );
  if (made?.status !== 201) return;
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
    await once(() => rig.processor.post(`/test/disputes/${made.text("id")}`, { status: random.pick(moves) }));
  }
}

async function read({ rig, seen, name, patience }: Story, payment: Paid): Promise<void> {
  seen.count();
  const answer = await untilAnswered(() => rig.merchant.get(`/v1/payments/${payment.paymentId}`), patience);
  if (answer && ![200, 404].includes(answer.status)) seen.offence(name, `reading answered ${answer}`);
  if (answer?.status === 404 && payment.toldPaid) seen.offence(name, "a paid payment is not found");
  const status = String(answer?.at("status"));
  if (["succeeded", "partially_refunded", "refunded", "disputed"].includes(status)) payment.knownPaid = true;
}

async function expire({ rig, seen, name, patience }: Story, payment: Paid): Promise<void> {
  seen.count();
  const ask = (): Promise<Answer> => rig.merchant.post(`/v1/checkout-sessions/${payment.sessionId}/expire`);
  const answer = await untilAnswered(ask, patience);
  if (answer && answer.status !== 200) seen.offence(name, `expiring answered ${answer}`);
  if (answer?.at("status") === "expired") payment.toldExpired = true;
}

async function atOnce(times: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: times }, work));
}
