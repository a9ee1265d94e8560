// Asks the source of events whether it announced them, byte for byte. A MAC proves that its maker had the source's key; this holds too
// where that key was stolen, or the broker's store was edited or restored: what the source did not say claims nothing.
import { createHash } from "node:crypto";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { isId } from "./id.ts";

/** An event, as its source is asked about it. */
export interface AnnouncementClaim {
  readonly eventId: string;
  /** SHA-256 of the event's bytes. */
  readonly digest: Uint8Array;
}

/** Asks the source, in one call. @returns the digests of the claims that it announced, in any order. @throws when it does not answer. */
export type AskSource = (claims: AnnouncementClaim[], timeoutMs: number) => Promise<readonly Uint8Array[]>;

/** An event and the bytes that it came as. */
export interface ReceivedEvent {
  readonly event: Event;
  readonly body: Uint8Array;
}

// Looking up a batch takes milliseconds. Well within the time that the broker waits for an acknowledgement.
const askTimeoutMs = 5_000;

/** @returns those that the source announced, in their order. @throws when the source does not answer; then nothing is known of any. */
export async function announcedOf<E extends ReceivedEvent>(ask: AskSource, received: readonly E[]): Promise<E[]> {
  // No source gives an event another kind of id, and a malformed one must not have the whole question refused.
  const claimed = received
    .filter(({ event }) => isId("event", event.id))
    .map((one) => ({ one, eventId: one.event.id, digest: createHash("sha256").update(one.body).digest() }));
  if (claimed.length === 0) return [];
  const answer = await ask(
    claimed.map(({ eventId, digest }) => ({ eventId, digest })),
    askTimeoutMs,
  );
  const announced = new Set(answer.map(hex));
  return claimed.filter(({ digest }) => announced.has(hex(digest))).map(({ one }) => one);
}

function hex(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}
