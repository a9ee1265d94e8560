// Queues mails to a merchant's people about disputes, failed refunds, failing endpoints and expiring keys.
// Each event is marked as consumed in the same transaction, so a redelivery queues no second mail.
import type { Consumer } from "#platform/events/event-consumer.ts";
import { markConsumed } from "#platform/events/inbox.ts";
import type { JobContext } from "#platform/process/job.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { MerchantContext } from "../context.ts";
import { notifyPeople } from "../flows/people/notify-people.ts";
import { takeExpiringKeys } from "../store/api-keys.ts";
import { withdrawMails } from "../store/mails.ts";
import type { MappedTx } from "../store/mapped-database.ts";

/** Collecting evidence takes some days. */
const dueNoticeMs = 3 * 86_400_000;
const keyNoticeDays = 7;
/** A key with a shorter life was meant to expire soon. */
const keyLifeDays = 14;
const keysMax = 50;

export function notificationConsumers(context: MerchantContext): Consumer[] {
  const { notifyDisputes, notifyRefunds, notifyDeliveries } = durableConsumers;
  const consume = (consumer: typeof notifyDisputes | typeof notifyRefunds): Consumer => ({
    ...consumer,
    handle: async (events) => {
      for (const event of events) await context.db.transaction((tx) => applyEvent(context, tx, consumer.name, event));
      context.mails.now();
    },
  });
  const deliveries: Consumer = {
    ...notifyDeliveries,
    handle: async (events) => {
      await context.db.transaction((tx) => notifyFailingEndpoints(context, tx, events));
      context.mails.now();
    },
  };
  return [consume(notifyDisputes), consume(notifyRefunds), deliveries];
}

async function applyEvent(context: MerchantContext, tx: MappedTx, consumer: string, event: Event): Promise<void> {
  if ((await markConsumed(tx, consumer, [event.id])).size === 0) return;
  if (event.type === "payment.refund_failed") await notifyFailedRefund(context, tx, event);
  else await notifyDispute(context, tx, event);
}

async function notifyFailedRefund(context: MerchantContext, tx: MappedTx, event: Event): Promise<void> {
  const { merchantId, environment, objectId: paymentId, attributes } = event;
  const refundId = attributes.refund_id ?? "";
  const where = { merchantId, environment, objectId: refundId, object: refundId, path: `payments/${paymentId}` };
  await notifyPeople(context, tx, { kind: "refund_failed", ...where });
}

/** One mail per endpoint and day, since thousands of its deliveries may report at once. */
async function notifyFailingEndpoints(context: MerchantContext, tx: MappedTx, events: readonly Event[]): Promise<void> {
  const ids = events.map(({ id }) => id);
  const newIds = await markConsumed(tx, durableConsumers.notifyDeliveries.name, ids);
  const byEndpoint = new Map(
    events.filter(({ id }) => newIds.has(id)).map((event) => [event.attributes.endpoint_id ?? "", event]),
  );
  for (const [endpointId, { merchantId, environment, attributes }] of byEndpoint) {
    const objectId = `${endpointId}:${clockNow().toISOString().slice(0, 10)}`;
    const where = { merchantId, environment, objectId, object: attributes.endpoint_host ?? "" };
    await notifyPeople(context, tx, { kind: "endpoint_failing", ...where, path: `webhooks/${endpointId}` });
  }
}

async function notifyDispute(context: MerchantContext, tx: MappedTx, event: Event): Promise<void> {
  const { type, merchantId, environment, attributes } = event;
  const { dispute_id: disputeId = "", dispute_status: status = "" } = attributes;
  const due = new Date(attributes.evidence_due_at ?? Number.NaN);
  const date = Number.isNaN(due.getTime()) ? undefined : due;
  const where = { merchantId, environment, objectId: disputeId, path: `disputes/${disputeId}` };
  if (type === "dispute.created") {
    await notifyPeople(context, tx, { kind: "dispute_opened", ...where, object: event.objectId, date });
  }
  // The dispute was answered or closed, or its due date changed.
  await withdrawMails(tx, "dispute_due", disputeId);
  const sendAt = date && new Date(date.getTime() - dueNoticeMs);
  if (!status.endsWith("needs_response") || !sendAt || sendAt <= clockNow()) return;
  await notifyPeople(context, tx, { kind: "dispute_due", ...where, object: disputeId, date, sendAt, giveUpAt: date });
}

/** Each key is reported once, whatever the number of replicas. */
export function notifyExpiringKeysJob(context: MerchantContext): JobContext {
  const runOnce = async () => {
    const found = await context.db.transaction(async (tx) => {
      const keys = await takeExpiringKeys(tx, { days: keyNoticeDays, lifeDays: keyLifeDays, limit: keysMax });
      for (const { id, merchantId, environment, name, expiresAt } of keys) {
        const date = expiresAt ?? undefined;
        const matter = { merchantId, environment, objectId: id, object: name, date, path: "keys" };
        await notifyPeople(context, tx, { kind: "key_expiring", ...matter });
      }
      return keys.length;
    });
    if (found > 0) context.mails.now();
    return found === keysMax;
  };
  return { name: "tell-expiring-keys", everyMs: 3_600_000, runOnce };
}
