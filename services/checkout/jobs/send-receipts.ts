// Follows what is paid, captured and refunded, and has the buyers' receipts sent. An event says no more than that it is
// time to look: what a mail tells, its owners are asked about. Nobody's payment waits for it, and a mail is queued
// once, however often an event comes.

import type { Consumer } from "#platform/events/event-consumer.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { CheckoutContext } from "../context.ts";
import { type Receiptable, type ReceiptPolicy, sendReceipt } from "../flows/buyers/send-receipt.ts";

type ReceiptContext = Pick<CheckoutContext, "db" | "payments" | "receipts" | "merchants" | "log">;

export function sendReceipts(context: ReceiptContext): Consumer[] {
  const { receiptCompletions, receiptCaptures, receiptRefunds } = durableConsumers;
  const handle = (events: readonly Event[]) => mailReceipts(context, events);
  return [receiptCompletions, receiptCaptures, receiptRefunds].map((of) => ({ ...of, handle }));
}

/** Exported for tests, which have no broker between them and the job. */
export async function mailReceipts(context: ReceiptContext, events: readonly Event[]): Promise<void> {
  const wanted = askOnce(context);
  for (const event of events) {
    const trigger = readTrigger(event);
    try {
      if (trigger) await sendReceipt(context, trigger, wanted);
    } catch (error) {
      // What its owner does not know will not be known later either.
      if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;
      context.log.warn({ event_id: event.id, err: error }, "a receipt's payment or merchant is not known");
    }
  }
}

function readTrigger({ type, objectId, attributes }: Event): Receiptable | undefined {
  const { session_id: sessionId = "", refund_id: refundId = "" } = attributes;
  if (type === "session.completed") return { sessionId: objectId };
  if (type === "payment.captured") return { sessionId };
  return type === "payment.refund_succeeded" && refundId !== "" ? { sessionId, refundId } : undefined;
}

function askOnce({ merchants }: ReceiptContext): ReceiptPolicy {
  const known = new Map<string, Promise<boolean>>();
  return (owner) => {
    const key = `${owner.merchantId} ${owner.environment}`;
    const answer =
      known.get(key) ?? merchants?.getBranding(owner).then((found) => found.branding?.emailReceipts === "on");
    if (!answer) return Promise.resolve(false);
    known.set(key, answer);
    return answer;
  };
}
