// A received event: its verification, decoding, spans and its source's confirmation.
import { createHash } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import type { Tracer } from "@opentelemetry/api";
import type { Counter, Registry } from "prom-client";
import { newCounter } from "#platform/telemetry/metrics.ts";
import { type OpenSpan, openSpan } from "#platform/telemetry/trace.ts";
import { isId } from "#platform/values/id.ts";
import type { MsgHdrs } from "#platform/values/nats.ts";
import { findUnstorableFields } from "#platform/values/storable.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Source } from "../../services.ts";
import { doubts, type EventKeys, macHeader } from "./event-keys.ts";
import { isSubjectOf } from "./streams.ts";

/** A message, durable or not. */
export interface EventMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/**
 * Why an event is rejected. `unreadable`: not an event, or not storable. `wrong_subject`: its subject and content
 * differ.
 */
export const refusals = [...doubts, "unreadable", "wrong_subject", "not_announced"] as const;
export type Refusal = (typeof refusals)[number];

/** Counts events from another program or under a wrong key. */
export function refusedEvents(registry: Registry): Counter<"source" | "why"> {
  return newCounter(registry, {
    name: "tollbooth_events_refused_total",
    help: "Events that were passed over because they are not proved to be their source's, or cannot be read, by source and reason.",
    labelNames: ["source", "why"] as const,
  });
}

/** @param keys absent when events are not verified */
export function readEvent(message: EventMessage, source: Source, keys: EventKeys | undefined): Event | Refusal {
  const doubt = keys?.doubt(source, message.subject, message.data, message.headers?.get(macHeader) ?? "");
  return doubt ?? decoded(message, source);
}

function decoded({ data, subject }: EventMessage, source: Source): Event | "unreadable" | "wrong_subject" {
  try {
    const event = fromBinary(EventSchema, data);
    if (!isStorable(event)) return "unreadable";
    // A publisher may only announce the source and type of its subject.
    return event.source === source && isSubjectOf(subject, source, event.type) ? event : "wrong_subject";
  } catch {
    return "unreadable";
  }
}

// End of the year 9999, the limit of protobuf's Timestamp.
const secondsMax = 253_402_300_799n;
const environments = new Set<number>(Object.values(Environment));

/** An event that no database can store would be redelivered and block its batch. */
function isStorable(event: Event): boolean {
  const seconds = event.occurredAt?.seconds ?? 0n;
  return (
    environments.has(event.environment) &&
    seconds >= 0n &&
    seconds <= secondsMax &&
    findUnstorableFields(EventSchema, event).length === 0
  );
}

/** A span of publishing or consuming, within the call that caused the event. */
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

// Asks the source whether it announced the events, byte for byte. This still holds if a MAC key was stolen, or the
// broker's store was edited or restored.

/** An event whose announcement is to be confirmed. */
export interface AnnouncementClaim {
  readonly eventId: string;
  /** SHA-256 of the event's bytes. */
  readonly digest: Uint8Array;
}

/** The RPC client of a source. */
export interface Announcer {
  /** @returns digests of the announced claims, in any order @throws when it does not answer */
  confirmAnnouncements(
    request: { claims: AnnouncementClaim[] },
    options: { timeoutMs: number },
  ): Promise<{ announcedDigests: readonly Uint8Array[] }>;
}

/** An event and its received bytes. */
export interface ReceivedEvent {
  readonly event: Event;
  readonly body: Uint8Array;
}

// A batch lookup takes milliseconds. Well below the acknowledgement deadline.
const askTimeoutMs = 5_000;

/** @returns the announced events, in order @throws when the source does not answer */
export async function announcedOf<E extends ReceivedEvent>(announcer: Announcer, received: readonly E[]): Promise<E[]> {
  // No source uses another form of id, and a malformed one would have the whole request rejected.
  const claimed = received
    .filter(({ event }) => isId("event", event.id))
    .map((one) => ({ one, eventId: one.event.id, digest: createHash("sha256").update(one.body).digest() }));
  if (claimed.length === 0) return [];
  const claims = claimed.map(({ eventId, digest }) => ({ eventId, digest }));
  const { announcedDigests } = await announcer.confirmAnnouncements({ claims }, { timeoutMs: askTimeoutMs });
  const announced = new Set(announcedDigests.map(hex));
  return claimed.filter(({ digest }) => announced.has(hex(digest))).map(({ one }) => one);
}

function hex(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}
