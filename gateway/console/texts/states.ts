// States as people read them, with the tone in which they are shown.
import type { Tone } from "../view/pieces.ts";
import { both, type Language } from "./both.ts";

const paymentStates = both(
  {
    pending: "Started",
    requires_action: "Waits for the buyer",
    processing: "Processing",
    succeeded: "Paid",
    failed: "Failed",
    canceled: "Canceled",
    partially_refunded: "Partly refunded",
    refunded: "Refunded",
    disputed: "Disputed",
  },
  {
    pending: "Begonnen",
    requires_action: "Wartet auf den Käufer",
    processing: "In Bearbeitung",
    succeeded: "Bezahlt",
    failed: "Fehlgeschlagen",
    canceled: "Storniert",
    partially_refunded: "Teilweise erstattet",
    refunded: "Erstattet",
    disputed: "Reklamiert",
  },
);

const paymentTones: ReadonlyMap<string, Tone> = new Map(
  Object.entries({
    succeeded: "good",
    failed: "bad",
    disputed: "bad",
    processing: "wait",
    pending: "wait",
    requires_action: "wait",
  } as const),
);

/** The statuses of a payment, in the order of its life. */
export const paymentStatuses = Object.keys(paymentStates.en);

/** A status that this release does not know is shown by its own name. */
export function paymentState(language: Language, status: string): { readonly text: string; readonly tone: Tone } {
  const text = new Map<string, unknown>(Object.entries(paymentStates[language])).get(status);
  return { text: typeof text === "string" ? text : status, tone: paymentTones.get(status) ?? "quiet" };
}
