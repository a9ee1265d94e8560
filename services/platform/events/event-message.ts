// An event as it came from the broker: whether it is its source's, and what it says.
import { fromBinary } from "@bufbuild/protobuf";
import type { MsgHdrs } from "nats";
import type { Counter, Registry } from "prom-client";
import { doubts, type EventKeys, macHeader } from "#platform/broker/event-keys.ts";
import { isSubjectOf, type Source } from "#platform/broker/streams.ts";
import { counter } from "#platform/telemetry/metrics.ts";
import { unkeptViolations } from "#platform/values/unkept-values.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";

/** What there is of a message, durable or not. */
export interface EventMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/**
 * Why an event is passed over. `unreadable`: no event, or one that no table could keep. `wrong_subject`: it says it is
 * another one.
 */
export const refusals = [...doubts, "unreadable", "wrong_subject", "not_announced"] as const;
export type Refusal = (typeof refusals)[number];

/** Counts events that another program wrote to the broker, or that were given a wrong key. */
export function refusedEvents(registry: Registry): Counter<"source" | "why"> {
  return counter(registry, {
    name: "tollbooth_events_refused_total",
    help: "Events that were passed over because they are not proved to be their source's, or cannot be read, by source and reason.",
    labelNames: ["source", "why"] as const,
  });
}

/** @param keys absent: it is believed as it came */
export function readEvent(message: EventMessage, source: Source, keys: EventKeys | undefined): Event | Refusal {
  const doubt = keys?.doubt(source, message.subject, message.data, message.headers?.get(macHeader) ?? "");
  return doubt ?? decoded(message, source);
}

function decoded({ data, subject }: EventMessage, source: Source): Event | "unreadable" | "wrong_subject" {
  try {
    const event = fromBinary(EventSchema, data);
    if (!isStorable(event)) return "unreadable";
    // Who may speak on a subject speaks for no other source and of no other type.
    return event.source === source && isSubjectOf(subject, source, event.type) ? event : "wrong_subject";
  } catch {
    return "unreadable";
  }
}

// Of the year 9999, as of every Timestamp of protobuf.
const secondsMax = 253_402_300_799n;
const environments = new Set<number>(Object.values(Environment));

/** One that a database cannot keep would be offered again and again, and hold up those beside it. */
function isStorable(event: Event): boolean {
  const seconds = event.occurredAt?.seconds ?? 0n;
  return (
    environments.has(event.environment) &&
    seconds >= 0n &&
    seconds <= secondsMax &&
    unkeptViolations(EventSchema, event).length === 0
  );
}
