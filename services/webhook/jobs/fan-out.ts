// Consumes verified events. For each public one it inserts a row of events and a delivery per subscribed endpoint, in
// one transaction before the acknowledgement. The body is frozen as bytes here (flows/build-objects.ts completes those
// with an object): these bytes are later signed and sent.
import { toBinary } from "@bufbuild/protobuf";
import type { Database } from "#platform/database/database.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { offerDaysMax } from "#platform/events/streams.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockMs } from "#platform/values/clock.ts";
import { idSuffix, idTimeMs, isId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { translateFact } from "../rules/public-event.ts";
import { eraseBodies } from "../store/deliveries.ts";
import { type FanOutEvent, queueEvents } from "../store/delivery-queue.ts";
import { parkEvent } from "../store/parked-events.ts";
import { dayMs } from "../store/partitions.ts";
import type { Dispatcher } from "./dispatch.ts";

interface FanOutDeps {
  readonly db: Database;
  readonly dispatcher: Dispatcher;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
  /** Called after each batch: events wait for their positions, and deliveries for their objects. */
  readonly onListed: () => void;
}

/**
 * When it resolves, the whole batch is committed.
 * @param seqs the events' places in their stream
 */
export async function fanOut(
  deps: FanOutDeps,
  consumer: Pick<Consumer, "source" | "name">,
  events: readonly Event[],
  seqs: readonly number[],
): Promise<void> {
  const wanted: FanOutEvent[] = [];
  for (const [i, event] of events.entries()) {
    if (event.type === "payment.erased") await eraseCopies(deps.db, event);
    const translation = translateFact(event);
    if (translation.kind === "internal") continue;
    const problem = problemOf(event, clockMs()) ?? (translation.kind === "malformed" ? translation.problem : undefined);
    if (translation.kind === "event" && problem === undefined)
      wanted.push({ ...translation, ...originOf(event), streamSeq: seqs[i] ?? 0 });
    else await parkAndLog(deps, event, problem ?? "");
  }
  if (wanted.length === 0) return;
  deps.metrics.fanOutBatch.observe(wanted.length);
  const claimed = await queueEvents(deps.db, {
    source: consumer.source,
    consumer: consumer.name,
    events: wanted,
    owner: deps.owner,
    leaseSeconds: deps.leaseSeconds,
    fullLanes: deps.dispatcher.lanes.fullEndpoints(),
    isClaiming: deps.dispatcher.isTaking,
  });
  deps.dispatcher.admit(claimed);
  deps.onListed();
}

async function eraseCopies(db: Database, { merchantId, objectId, attributes }: Event): Promise<void> {
  const { session_id: sessionId, attempted } = attributes;
  await eraseBodies(db, merchantId, objectId, attempted === "false" ? sessionId : undefined);
}

function originOf({ id: eventId, merchantId, environment, traceparent, attributes, money, reference }: Event) {
  const version = Number(attributes.version ?? 0) || undefined;
  return { eventId, merchantId, environment, traceparent, version, money, reference };
}

const merchantIdCharactersMax = 64;

/** The reason why the event's envelope is invalid, if it is. */
function problemOf(event: Event, nowMs: number): string | undefined {
  if (!isId("event", event.id)) return "id is not an event id";
  const ageMs = nowMs - idTimeMs(event.id);
  if (ageMs > offerDaysMax * dayMs || ageMs < -dayMs) return "id is outside the accepted time range";
  if (event.merchantId === "" || event.merchantId.length > merchantIdCharactersMax) return "merchant id is invalid";
  if (event.environment !== 1 && event.environment !== 2) return "environment is invalid";
  return undefined;
}

async function parkAndLog(deps: FanOutDeps, event: Event, problem: string): Promise<void> {
  deps.metrics.eventsParked.inc();
  deps.log.error({ event: idSuffix(event.id).slice(0, 26), type: event.type, problem }, "event parked");
  await parkEvent(deps.db, { id: event.id, type: event.type, problem, body: toBinary(EventSchema, event) });
}
