// Queues mails about paid checkouts: one for each to those who receive it, and one in the night about the day before.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { markConsumed } from "#platform/events/inbox.ts";
import type { JobContext } from "#platform/process/job.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { MerchantContext } from "../context.ts";
import { notifyPeople } from "../flows/people/notify-people.ts";
import type { MappedTx } from "../store/mapped-database.ts";
import { addToPaidDay, takePaidDays } from "../store/paid-days.ts";

const daysMax = 50;

export function paidConsumer(context: MerchantContext): Consumer {
  const { notifyPaid } = durableConsumers;
  const handle = async (events: readonly Event[]) => {
    const ids = events.map(({ id }) => id);
    await context.db.transaction(async (tx) => {
      const newIds = await markConsumed(tx, notifyPaid.name, ids);
      for (const event of events) if (newIds.has(event.id)) await queueNotices(context, tx, event);
    });
    context.mails.now();
  };
  return { ...notifyPaid, handle };
}

/** An authorized payment is not paid yet. */
async function queueNotices(context: MerchantContext, tx: MappedTx, event: Event): Promise<void> {
  const { merchantId, environment, attributes, money, occurredAt } = event;
  const { payment_status, payment_id: objectId = "", payment_link_id } = attributes;
  if (!context.canMail || payment_status !== "succeeded" || !money || !occurredAt) return;
  const [total, currency] = [String(money.amount), money.currency];
  await addToPaidDay(tx, { merchantId, environment, total, currency, at: timestampDate(occurredAt) });
  await notifyPeople(context, tx, {
    kind: payment_link_id ? "link_paid" : "checkout_paid",
    ...{ merchantId, environment, objectId, object: [{ total, currency, count: 1 }], path: `payments/${objectId}` },
  });
}

export function notifyPaidDaysJob(context: MerchantContext): JobContext {
  const runOnce = async () => {
    const days = await context.db.transaction(async (tx) => {
      const taken = await takePaidDays(tx, daysMax);
      for (const { merchantId, environment, day, sums } of taken) {
        // A payment that is reported later has a mail of its own.
        const objectId = `${day}:${clockNow().getTime()}`;
        const path = `payments?from=${day}&to=${day}`;
        const matter = { merchantId, environment, objectId, object: sums, date: new Date(day), path };
        await notifyPeople(context, tx, { kind: "paid_daily", ...matter });
      }
      return taken;
    });
    if (days.length > 0) context.mails.now();
    return days.length > 0;
  };
  return { name: "notify-paid-days", everyMs: 600_000, runOnce };
}
