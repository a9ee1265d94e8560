// Asks the source of events whether it announced them, byte for byte. A MAC proves that its maker had the source's key;
// this holds too where that key was stolen, or the broker's store was edited or restored: what the source did not say
// claims nothing.
import { createHash } from "node:crypto";
import { isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";

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
