// A payment's intent after reports of renewed pages in any order: only the next renewal replaces it, and none after
// money was authorized there, even if it was returned since.
import assert from "node:assert/strict";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { Random } from "../../chaos/random.ts";
import { suite } from "../../harness/suite.ts";
import { capturedFact, playedPayments } from "./played.ts";

const test = suite("renewals in any order", { timeoutMs: 60_000 });
const played = playedPayments(test);

/** Facts about one attempt; `returned` is a debit that was paid and then returned. */
const stories: Readonly<Record<string, (ref: string) => readonly IntentFact[]>> = {
  nothing: () => [],
  declined: (ref) => [failed(ref)],
  authorized: (ref) => [{ ...capturedFact(0n), attempt: { ...attempt, ref }, capturedAt: undefined }],
  paid: (ref) => [paid(ref)],
  returned: (ref) => [paid(ref), failed(ref)],
};
const { attempt } = capturedFact();

function paid(ref: string): IntentFact {
  return { ...capturedFact(), attempt: { ...attempt, ref } };
}

function failed(ref: string): IntentFact {
  const why = { code: "card_declined", message: "", at: attempt.startedAt };
  return { kind: "attempt_failed", attempt: { ...attempt, ref }, ...why };
}

test("only the next renewal replaces a payment's intent, and only while it was never paid", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const id = await played.payment({ captureMethod: "manual" });
    const refOf = (renewal: number) => (renewal === 0 ? `pi_${id}` : `pi_${renewal}_${id}`);
    const log = [`seed ${seed}`];
    let [own, isBooked] = [0, false];
    await played.settleReport(id, {});
    for (let step = random.int(2, 6); step > 0; step--) {
      const renewal = random.int(0, 3);
      const [name, story] = random.pick(Object.entries(stories).map((each) => [each, 1] as const));
      for (const fact of story(`at_${step}`))
        await played.settleReport(id, { ref: refOf(renewal), renewal, facts: [fact] });
      const isPaid = name !== "nothing" && name !== "declined";
      if (renewal === own + 1 && isPaid && !isBooked) own = renewal;
      if (renewal === own && isPaid) isBooked = true;
      log.push(`renewal ${renewal}: ${name}`);
      const payment = await findPayment(played.db, id);
      assert.deepEqual([payment?.connectorRef, payment?.renewals], [refOf(own), own], log.join("\n"));
    }
  }
});

test.run();
