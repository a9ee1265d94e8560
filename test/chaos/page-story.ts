// The page where a buyer pays: where it is, and its end before its session's, also in the moment of paying, after which
// the link leads to another one.
import type { Answer } from "../harness/api.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { tryOnce, untilAnswered } from "./persistent-client.ts";
import { simulatorTill } from "./simulator-till.ts";
import { type Paying, recordPaid, type Story } from "./story.ts";
import { stripeTill } from "./stripe-till.ts";

/** The processor's page or frame, or with Stripe's fields the intent alone. */
export function paymentPageOf(answer: Answer): { page: string; intentId: string } {
  const page = String(answer.at("render.frame_url") || answer.at("render.redirect_url") || "");
  if (page !== "") return { page, intentId: new URL(page).pathname.split("/").at(-1) ?? "" };
  return { page, intentId: answer.text("render.client_secret").split("_secret")[0] ?? "" };
}

/** The buyer pays on the page of the answer from now on. @returns true: it is another one */
export function takePage({ shop }: Story, payment: Paying, answer: Answer | undefined): boolean {
  if (answer?.status !== 200 || !answer.at("render.kind")) return false;
  const { intentId, page } = paymentPageOf(answer);
  if (intentId === payment.intentId) return false;
  payment.connector = answer.at("render.connector") === "stripe" ? "stripe" : "simulator";
  payment.intentId = intentId;
  payment.till = payment.connector === "stripe" ? stripeTill(shop) : simulatorTill(shop, page);
  return true;
}

/** After a decline that moved the payment to the merchant's other processor. */
export async function followMove(story: Story, payment: Paying): Promise<void> {
  const { limitMs, pauseMs } = story.patience;
  const open = () => story.run.rig.buyer.get(payment.resolvePath);
  takePage(story, payment, await untilAnswered(open, { limitMs, pauseMs }));
}

/** Declines the buyer's card at the simulator. @returns true: the buyer pays at the merchant's other processor */
export async function declineOnce(story: Story, payment: Paying): Promise<boolean> {
  const { run, shop, patience } = story;
  if (!shop.stripe || payment.connector !== "simulator" || payment.mishaps.size > 0) return false;
  const { limitMs, pauseMs } = patience;
  const shown = await untilAnswered(() => run.rig.buyer.get(payment.resolvePath), { limitMs, pauseMs });
  const { page } = shown?.status === 200 && shown.at("render.kind") ? paymentPageOf(shown) : { page: "" };
  if (page === "") return false;
  await tryOnce(() => payInFrame(page, cards.declined));
  const answer = await untilAnswered(() => run.rig.buyer.post(payment.confirmPath), { limitMs, pauseMs });
  if (answer?.at("render_replaced") !== true) return false;
  await followMove(story, payment);
  return true;
}

/** Ends it at the simulator, and opens the link again in some tabs. @returns true: there is another page */
export async function endPage(story: Story, payment: Paying): Promise<boolean> {
  const { run, random, patience, shop } = story;
  const { simulator } = shop;
  // A payment with another fault is left alone.
  if (!simulator || payment.connector !== "simulator" || payment.resolvePath === "" || payment.mishaps.size > 0)
    return false;
  const paying = random.chance(0.5) ? payment.till.attempt(story, payment) : undefined;
  const ended = await tryOnce(() => simulator.api.post(`/test/intents/${payment.intentId}/end-page`, {}));
  if (await paying) recordPaid(story, payment, "processor");
  if (ended?.status !== 200) return false;
  const { limitMs, pauseMs } = patience;
  const open = () => untilAnswered(() => run.rig.buyer.get(payment.resolvePath), { limitMs, pauseMs });
  const tabs = await Promise.all(Array.from({ length: random.int(1, 4) }, open));
  return tabs.some((tab) => takePage(story, payment, tab));
}
