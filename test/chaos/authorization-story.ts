// The end of an authorization: capture of all or a part, cancel, both at once or nothing, a capture at the processor's
// dashboard, or expiry. Each answer is kept in `seen`.
import type { Answer } from "../harness/api.ts";
import { keyOf } from "./order-key.ts";
import { applyPaymentFault, beforeFeesChange, partialAmount } from "./payment-faults.ts";
import { askUnderKey, type Paying, type Story } from "./story.ts";

const endings = [
  ["capture all", 30],
  ["capture a part", 25],
  ["cancel", 12],
  ["all at once", 14],
  ["captured at the dashboard", 8],
  ["captured at the dashboard, meanwhile", 6],
  ["paid again after a return", 8],
  ["authorization lapses", 5],
  ["authorization lapses, meanwhile", 6],
  ["nothing", 6],
] as const;

/** Of authorizations while none was paid again. */
const firstShare = 0.5;

export async function endAuthorization(story: Story, payment: Paying): Promise<void> {
  const { random } = story;
  const drawPartial = () => partialAmount(story, payment);
  const isFirst = story.run.drawn.awaits("paid again after a return") && random.chance(firstShare);
  switch (isFirst ? "paid again after a return" : random.pick(endings)) {
    case "capture all":
      return await capture(story, payment, 0, undefined);
    case "capture a part":
      await capture(story, payment, 0, drawPartial());
      if (random.chance(story.run.drawn.awaits("captured again") ? 1 : 0.3))
        await applyPaymentFault(story, payment, "captured again");
      return;
    case "cancel":
      return await cancel(story, payment, 0);
    case "all at once":
      await Promise.all([
        capture(story, payment, 0, drawPartial()),
        capture(story, payment, 1, undefined),
        cancel(story, payment, 2),
      ]);
      return;
    case "captured at the dashboard": {
      const other = () => applyPaymentFault(story, payment, "captured at the dashboard");
      return random.chance(0.5) ? await other() : await beforeFeesChange(story, payment, other);
    }
    case "paid again after a return":
      return await applyPaymentFault(story, payment, "paid again after a return");
    case "captured at the dashboard, meanwhile": {
      const other = applyPaymentFault(story, payment, "captured at the dashboard");
      await Promise.all([capture(story, payment, 0, drawPartial()), other]);
      return;
    }
    case "authorization lapses":
      return await applyPaymentFault(story, payment, "authorization lapses");
    case "authorization lapses, meanwhile": {
      const lapse = applyPaymentFault(story, payment, "authorization lapses");
      await Promise.all([
        random.chance(0.5) ? capture(story, payment, 0, undefined) : cancel(story, payment, 0),
        lapse,
      ]);
      return;
    }
    case "nothing":
  }
}

/** Refusals that what happened before explains. */
const refusals = [404, 409, 422, 502, 503];

async function capture(story: Story, payment: Paying, index: number, amount: number | undefined): Promise<void> {
  const body = amount === undefined ? {} : { amount };
  const answer = await ask(story, payment, "capture", index, body);
  if (!answer) return;
  // Without `captured_at` the capture has no result yet.
  const captured = answer.at("captured_at") === undefined ? undefined : answer.at("captured_amount");
  if (typeof captured !== "number" || (payment.mishaps.size > 0 && payment.reportedCaptured === undefined)) return;
  const isOther = payment.reportedCaptured !== undefined && payment.reportedCaptured !== captured;
  if (isOther && payment.mishaps.size === 0) story.seen.offence(story.name, `two captures were reported: ${answer}`);
  payment.reportedCaptured = captured;
}

async function cancel(story: Story, payment: Paying, index: number): Promise<void> {
  const answer = await ask(story, payment, "cancel", index, {});
  if (answer?.at("status") === "canceled" && payment.mishaps.size === 0) {
    payment.reportedCanceled = true;
  }
}

/** Under a key it is asked until it is answered, some of them twice at once, and a replay is the first answer. */
async function ask(
  story: Story,
  payment: Paying,
  what: "capture" | "cancel",
  index: number,
  body: object,
): Promise<Answer | undefined> {
  const { run, shop, random } = story;
  const path = `/v1/payments/${payment.paymentId}/${what}`;
  const hasKey = story.hasOrderKey || random.chance(0.7);
  const key = hasKey ? { "idempotency-key": keyOf(story, what, index) } : undefined;
  const post = () => shop.api.post(path, body, key);
  const request = what === "capture" ? () => run.honesty.ask("capture", payment.paymentId, post) : post;
  const first = await askUnderKey(story, { what, ask: request, hasKey, doubled: 0.2, good: 200, refusals });
  if (key && first)
    story.answered.push({ operation: `${what}_payment`, key: key["idempotency-key"], ask: post, first });
  return first;
}
