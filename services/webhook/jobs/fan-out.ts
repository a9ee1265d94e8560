// Takes payment events from JetStream that payments says it announced, and makes a delivery to each subscribed endpoint
// of each, all in one transaction before the acknowledgement. The body is frozen as bytes here; what is signed and sent
// later are these bytes.
import { toBinary } from "@bufbuild/protobuf";
import { durableConsumers, offerDaysMax } from "#platform/broker/streams.ts";
import type { Database } from "#platform/database/database.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockMs } from "#platform/values/clock.ts";
import { idSuffix, idTimeMs, isId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { eventsParked, fanOutBatch } from "../metrics.ts";
import { isDeliveredPaymentEvent, paymentEventBody } from "../rules/event-types.ts";
import { type FanOutEvent, queueEvents } from "../store/delivery-queue.ts";
import { parkEvent } from "../store/parked-events.ts";
import { dayMs } from "../store/partitions.ts";
import type { Dispatcher } from "./dispatch.ts";

export const fanOutConsumer = durableConsumers.fanOut.name;

export interface FanOutDeps {
  readonly db: Database;
  readonly dispatcher: Dispatcher;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly log: Log;
}

/** Fans a batch out. When it resolves, all of it is committed. */
export async function fanOut(deps: FanOutDeps, events: readonly Event[]): Promise<void> {
  const wanted: FanOutEvent[] = [];
  for (const event of events) {
    if (!isDeliveredPaymentEvent(event.type)) continue;
    const problem = problemOf(event, clockMs());
    if (problem === undefined) wanted.push(fanOutEvent(event));
    else await parkAndLog(deps, event, problem);
  }
  if (wanted.length === 0) return;
  fanOutBatch.observe(wanted.length);
  const claimed = await queueEvents(deps.db, {
    consumer: fanOutConsumer,
    events: wanted,
    owner: deps.owner,
    leaseSeconds: deps.leaseSeconds,
    fullLanes: deps.dispatcher.lanes.fullEndpoints(),
    isClaiming: deps.dispatcher.isTaking,
  });
  deps.dispatcher.admit(claimed);
}

function fanOutEvent(event: Event): FanOutEvent {
  return {
    eventId: event.id,
    merchantId: event.merchantId,
    environment: event.environment,
    type: event.type,
    paymentId: event.objectId,
    body: paymentEventBody(event.type, event.objectId, event.status),
    traceparent: event.traceparent,
  };
}

const statusFormat = /^[a-z_]{1,32}$/;
const merchantIdCharactersMax = 64;

/** Why the event cannot become a delivery; undefined: it can. */
function problemOf(event: Event, nowMs: number): string | undefined {
  if (!isId("event", event.id)) return "its id is not an event id";
  const ageMs = nowMs - idTimeMs(event.id);
  if (ageMs > offerDaysMax * dayMs || ageMs < -dayMs) return "its id is from another time";
  if (event.merchantId === "" || event.merchantId.length > merchantIdCharactersMax) return "it names no merchant";
  if (event.environment !== 1 && event.environment !== 2) return "it names no environment";
  if (!isId("payment", event.objectId)) return "it names no payment";
  return statusFormat.test(event.status) ? undefined : "its status is malformed";
}

async function parkAndLog(deps: FanOutDeps, event: Event, problem: string): Promise<void> {
  eventsParked.inc();
  deps.log.error({ event: idSuffix(event.id).slice(0, 26), type: event.type, problem }, "event parked");
  await parkEvent(deps.db, { id: event.id, type: event.type, problem, body: toBinary(EventSchema, event) });
}
