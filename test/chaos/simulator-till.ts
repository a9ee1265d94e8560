// The buyer at the simulator's card form, and its dashboard, as a story plays them.
import { answerChallenge, bank, cards, debits, payInFrame } from "../harness/pay.ts";
import { tryOnce } from "./persistent-client.ts";
import type { Shop } from "./shop.ts";
import type { Story, Till } from "./story.ts";

/** Every test card, the ones that get somewhere more often. */
export const cardWeights = [
  [cards.succeeds, 50],
  [cards.declined, 8],
  ["4000000000009995", 3],
  ["4000000000000069", 1],
  ["4000000000000127", 1],
  ["4000000000000119", 1],
  [cards.needsChallenge, 12],
  [cards.declinedAfterChallenge, 4],
  [cards.asynchronous, 8],
  [cards.disputedLater, 4],
  [cards.inquiredLater, 1],
  [cards.refundFailsLater, 6],
  ["4100000000000019", 2],
  ["4000000000006009", 1],
  ["4000000000006306", 4],
  ["4000000000006207", 1],
  [cards.lapses, 1],
] as const;
/** A session that does not offer a method refuses it. */
const methodWeights = [
  ...cardWeights,
  [bank, 10],
  [debits.settles, 6],
  [debits.fails, 2],
  [debits.returned, 2],
] as const;

/** @param page the form's address with the intent's secret as its fragment; empty: the buyer is absent */
export function simulatorTill({ simulator }: Shop, page: string): Till {
  const post = async (path: string, body: unknown) =>
    await tryOnce(async () => (await simulator?.api.post(path, body)) ?? missing());
  return {
    async attempt({ random, seen }: Story) {
      if (page === "") return false;
      const paid = await tryOnce(() => payInFrame(page, random.pick(methodWeights)));
      const challenge = paid?.at("challenge_url");
      if (typeof challenge !== "string" || random.chance(0.1)) return paid?.at("status") === "succeeded";
      seen.count();
      const outcome = random.chance(0.8) ? "pass" : "fail";
      const answered = await tryOnce(() => answerChallenge(challenge, outcome));
      return answered?.at("status") === "succeeded";
    },
    async refund({ intentId }, amount, isPending) {
      const status = isPending ? "pending" : "succeeded";
      const made = await post(`/test/intents/${intentId}/refunds`, { amount, status });
      return made?.status === 201 ? made.text("id") : undefined;
    },
    async moveRefund(_payment, refund, to) {
      const moved = await post(`/test/refunds/${refund}`, {
        status: to,
        ...(to === "failed" && { failure_code: "declined" }),
      });
      return moved?.status === 200;
    },
    async dispute({ intentId }, status, amount) {
      const made = await post(`/test/intents/${intentId}/disputes`, { status, ...(amount && { amount }) });
      return made?.status === 201 ? made.text("id") : undefined;
    },
    async moveDispute(_payment, dispute, to) {
      await post(`/test/disputes/${dispute}`, { status: to });
    },
    async returnDebit({ intentId }) {
      return (await post(`/test/intents/${intentId}/return`, {}))?.status === 200;
    },
    async capture({ intentId }, amount) {
      return (await post(`/test/intents/${intentId}/capture`, { amount }))?.status === 200;
    },
    // The simulator has no such control.
    async rename({ run }, { intentId }, reference) {
      const renamed = `update intents set reference = $2, version = version + 1
        where id = $1 and status in ('succeeded', 'requires_capture') returning id`;
      const rows = await tryOnce(() => run.rig.books.simulator.rows(renamed, [intentId, reference]));
      return rows?.length === 1;
    },
    async lapse({ intentId }) {
      const answer = await post(`/test/intents/${intentId}/lapse`, {});
      return answer?.status === 200 && answer.at("cancellation_reason") === "expired";
    },
  };
}

function missing(): never {
  throw new Error("this merchant has no account at the simulator");
}
