// The page where a buyer pays: where it is, and its end before its session's, also in the moment of paying, after which
// the link leads to another one.
import type { Answer } from "../harness/api.ts";
import { tryOnce, untilAnswered } from "./persistent-client.ts";
import { simulatorTill } from "./simulator-till.ts";
import { type Paying, recordPaid, type Story } from "./story.ts";

/** The processor's page or frame, or with Stripe's fields the intent alone. */
export function paymentPageOf(answer: Answer): { page: string; intentId: string } {
  const page = String(answer.at("render.frame_url") || answer.at("render.redirect_url") || "");
  if (page !== "") return { page, intentId: new URL(page).pathname.split("/").at(-1) ?? "" };
  return { page, intentId: answer.text("render.client_secret").split("_secret")[0] ?? "" };
}

/** Ends it at the simulator, and opens the link again in some tabs. @returns true: there is another page */
export async function endPage(story: Story, payment: Paying): Promise<boolean> {
  const { run, shop, random, patience } = story;
  const { simulator } = shop;
  // A payment with another fault is left alone.
  if (!simulator || payment.resolvePath === "" || payment.mishaps.size > 0) return false;
  const paying = random.chance(0.5) ? payment.till.attempt(story, payment) : undefined;
  const ended = await tryOnce(() => simulator.api.post(`/test/intents/${payment.intentId}/end-page`, {}));
  if (await paying) recordPaid(story, payment, "processor");
  if (ended?.status !== 200) return false;
  const { limitMs, pauseMs } = patience;
  const open = () => untilAnswered(() => run.rig.buyer.get(payment.resolvePath), { limitMs, pauseMs });
  const tabs = await Promise.all(Array.from({ length: random.int(1, 4) }, open));
  const pages = tabs.flatMap((tab) => (tab?.status === 200 && tab.at("render.kind") ? [paymentPageOf(tab)] : []));
  const newPage = pages.find(({ intentId }) => intentId !== payment.intentId);
  if (!newPage) return false;
  payment.intentId = newPage.intentId;
  payment.till = simulatorTill(shop, newPage.page);
  return true;
}
