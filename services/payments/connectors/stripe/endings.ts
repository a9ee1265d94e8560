// Captures and cancellations at Stripe. The cancellation of an unpaid intent ends it, or Stripe's page.

import type Stripe from "stripe";
import { declinedAnswer } from "../answer.ts";
import { type Connector, isKnown, type ProcessorAccount, type ProcessorAnswer } from "../connector.ts";
import { toStripe } from "./amount.ts";
import { commandAnswer, inDoubt, mapAnswer, notSentAnswer, type Refusals } from "./client.ts";
import { readIntent } from "./objects.ts";
import { isSession, type StripeReader } from "./reader.ts";

export function createEndingCalls(
  sdk: Stripe,
  reader: StripeReader,
): Pick<Connector, "captureIntent" | "cancelIntent"> {
  const keyOf = ({ credentials }: ProcessorAccount) => ({ apiKey: credentials.secret_key ?? "" });
  return {
    captureIntent: async (account, { intentRef, amount, currency }, key) => {
      const written = toStripe(amount, currency);
      if (typeof written !== "number") return declinedAnswer("amount_not_accepted", `the amount ${written.refused}`);
      const intentId = await reader.intentId(account, intentRef);
      if (intentId.kind !== "succeeded")
        return intentId.kind === "not_found" ? neverAuthorized : notSentAnswer(intentId);
      const call = { ...keyOf(account), idempotencyKey: key };
      const capture = sdk.paymentIntents.capture(intentId.value, { amount_to_capture: written }, call);
      const answer = await commandAnswer(capture, capturing, () => undefined);
      return isKnown(answer) ? mapAnswer(await reader.read(account, intentRef), readIntent) : answer;
    },
    // The SDK gives every try its own key: under a lasting one Stripe would always repeat its first answer.
    cancelIntent: async (account, ref, authorized) => {
      const cancel = (id: string) =>
        canceledAnswer(sdk.paymentIntents.cancel(id, { cancellation_reason: "abandoned" }, keyOf(account)));
      const expire = () => canceledAnswer(sdk.checkout.sessions.expire(ref, {}, keyOf(account)));
      const isPage = isSession(ref);
      // Stripe cancels also an authorized intent, but expires a page only while nothing is authorized.
      const before = isPage || authorized === "release" ? nothingHeld : await reader.authorizedId(account, ref);
      if (before.kind === "not_found") return declinedAnswer("not_cancelable", "Stripe does not know it");
      if (before.kind !== "succeeded") return notSentAnswer(before);
      if (before.value !== "") return declinedAnswer("not_cancelable", "it is authorized");
      const ended = await (isPage ? expire() : cancel(ref));
      if (isKnown(ended)) return mapAnswer(await reader.read(account, ref), readIntent);
      if (!isPage || authorized === "keep" || ended.kind !== "declined") return ended;
      const held = await reader.authorizedId(account, ref);
      if (held.kind !== "succeeded") return inDoubt(held);
      const released = held.value === "" ? ended : await cancel(held.value);
      return isKnown(released) ? mapAnswer(await reader.read(account, ref), readIntent) : released;
    },
  };
}

/** The result of a cancellation, without the intent. */
async function canceledAnswer(call: Promise<unknown>): Promise<ProcessorAnswer<undefined>> {
  return await commandAnswer(call, canceling, () => undefined);
}

const capturing: Refusals = {
  codes: {
    capture_charge_authorization_expired: "not_capturable",
    charge_already_captured: "not_capturable",
    charge_expired_for_capture: "not_capturable",
    payment_intent_unexpected_state: "not_capturable",
    amount_too_large: "amount_too_large",
  },
  params: { amount_to_capture: "amount_too_large" },
};
const canceling: Refusals = {
  codes: { payment_intent_unexpected_state: "not_cancelable", intent_invalid_state: "not_cancelable" },
  // A complete or expired session is refused without a code.
  params: { "": "not_cancelable", session: "not_cancelable" },
};
const nothingHeld = { kind: "succeeded", value: "" } as const;
const neverAuthorized = declinedAnswer("not_capturable", "this intent is not paid");
