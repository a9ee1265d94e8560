// An event as it came from the broker: whether it is its source's, and what it says.
import { fromBinary } from "@bufbuild/protobuf";
import type { MsgHdrs } from "nats";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { doubts, type EventKeys, macHeader } from "./event-keys.ts";
import { eventsRefused } from "./metrics.ts";
import type { Source } from "./streams.ts";

/** What there is of a message, durable or not. */
export interface EventMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** Why an event is passed over. */
export const refusals = [...doubts, "unreadable", "not_announced"] as const;
export type Refusal = (typeof refusals)[number];

/** Counts what is refused from zero on, so that the first one is seen. */
export function countRefusals(source: Source): void {
  for (const why of refusals) eventsRefused.inc({ source, why }, 0);
}

/** @param keys absent: it is believed as it came */
export function readEvent(message: EventMessage, source: Source, keys: EventKeys | undefined): Event | Refusal {
  const doubt = keys?.doubt(source, message.subject, message.data, message.headers?.get(macHeader) ?? "");
  const read = doubt ?? decoded(message.data);
  if (typeof read === "string") eventsRefused.inc({ source, why: read });
  return read;
}

function decoded(data: Uint8Array): Event | "unreadable" {
  try {
    return fromBinary(EventSchema, data);
  } catch {
    return "unreadable";
  }
}
