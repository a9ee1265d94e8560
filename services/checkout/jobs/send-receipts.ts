// Sends buyers' receipts on payment, capture, refund and its failure. An event is only the trigger: the content comes
// from the owning services. Payments never wait for a receipt, and a repeated event queues no second mail.
import type { Consumer } from "#platform/events/event-consumer.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { CheckoutContext } from "../context.ts";
import { type ReceiptPolicy, type ReceiptTrigger, sendReceipt } from "../flows/buyers/send-receipt.ts";

type ReceiptContext = Pick<CheckoutContext, "db" | "payments" | "receipts" | "merchants" | "log">;

export function sendReceipts(context: ReceiptContext): Consumer[] {
  const { receiptCompletions, receiptCaptures, receiptRefunds, receiptRefundFailures } = durableConsumers;
  const handle = (events: readonly Event[]) => mailReceipts(context, events);
  return [receiptCompletions, receiptCaptures, receiptRefunds, receiptRefundFailures].map((of) => ({ ...of, handle }));
}

/** Exported for tests without a broker. */
export async function mailReceipts(context: ReceiptContext, events: readonly Event[]): Promise<void> {
  const policy = cachedPolicy(context);
  for (const event of events) {
    const trigger = readTrigger(event);
    try {
      if (trigger) await sendReceipt(context, trigger, policy);
    } catch (error) {
      // Retries do not help if the owning service does not know the object.
      if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;
      context.log.warn({ event_id: event.id, err: error }, "receipt skipped: payment or merchant not found");
    }
  }
}

function readTrigger({ type, objectId, attributes }: Event): ReceiptTrigger | undefined {
  const { session_id: sessionId = "", refund_id: refundId = "" } = attributes;
  if (type === "session.completed") return { sessionId: objectId };
  if (type === "payment.captured") return { sessionId };
  const isOfRefund = type === "payment.refund_succeeded" || type === "payment.refund_failed";
  return isOfRefund && refundId !== "" ? { sessionId, refundId } : undefined;
}

function cachedPolicy({ merchants }: ReceiptContext): ReceiptPolicy {
  const cached = new Map<string, Promise<boolean>>();
  return (owner) => {
    const key = `${owner.merchantId} ${owner.environment}`;
    const answer =
      cached.get(key) ?? merchants?.getBranding(owner).then((found) => found.branding?.emailReceipts === "on");
    if (!answer) return Promise.resolve(false);
    cached.set(key, answer);
    return answer;
  };
}
