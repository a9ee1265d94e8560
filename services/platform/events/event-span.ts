// The spans of an event's way through the broker.
import type { Tracer } from "@opentelemetry/api";
import { type OpenSpan, openSpan } from "#platform/telemetry/trace.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";

/** A step of an event's way, as a part of the call that caused the event. */
export function eventSpan(
  tracer: Tracer | undefined,
  kind: "PRODUCER" | "CONSUMER",
  name: string,
  event: Event,
): OpenSpan | undefined {
  if (tracer === undefined || event.traceparent === "") return undefined;
  const attributes = {
    "messaging.system": "nats",
    "messaging.message.id": event.id,
    "tollbooth.event_type": event.type,
  };
  return openSpan({ tracer, name, kind, parent: event.traceparent, attributes });
}
