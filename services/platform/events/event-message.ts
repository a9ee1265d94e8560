// An event as it came from the broker: whether it is its source's, and what it says.

import { createHash } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import type { Tracer } from "@opentelemetry/api";
import type { MsgHdrs } from "nats";
import type { Counter, Registry } from "prom-client";
import { counter } from "#platform/telemetry/metrics.ts";
import { type OpenSpan, openSpan } from "#platform/telemetry/trace.ts";
import { isId } from "#platform/values/id.ts";
import { unkeptViolations } from "#platform/values/unchecked.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Source } from "../../services.ts";
import { doubts, type EventKeys, macHeader } from "./event-keys.ts";
import { isSubjectOf } from "./streams.ts";

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

// The spans of an event's way through the broker.

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

// Asks the source of events whether it announced them, byte for byte. A MAC proves that its maker had the source's key;
// this holds too where that key was stolen, or the broker's store was edited or restored: what the source did not say
// claims nothing.

/** An event, as its source is asked about it. */
export interface AnnouncementClaim {
  readonly eventId: string;
  /** SHA-256 of the event's bytes. */
  readonly digest: Uint8Array;
}

/** A service that says what it announced: the client of its RPC. */
export interface Announcer {
  /** @returns the digests of the claims that it announced, in any order. @throws when it does not answer. */
  confirmAnnouncements(
    request: { claims: AnnouncementClaim[] },
    options: { timeoutMs: number },
  ): Promise<{ announcedDigests: readonly Uint8Array[] }>;
}

/** An event and the bytes that it came as. */
export interface ReceivedEvent {
  readonly event: Event;
  readonly body: Uint8Array;
}

// Looking up a batch takes milliseconds. Well within the time that the broker waits for an acknowledgement.
const askTimeoutMs = 5_000;

/**
 * @returns those that the source announced, in their order. @throws when the source does not answer; then nothing is
 * known of any.
 */
export async function announcedOf<E extends ReceivedEvent>(announcer: Announcer, received: readonly E[]): Promise<E[]> {
  // No source gives an event another kind of id, and a malformed one must not have the whole question refused.
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
