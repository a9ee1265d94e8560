// Checkout and payments as consumers of their events see them, for tests that make the events themselves: an outbox in
// a database of payments, and its answers to requests for announced events and payments.
import type { Database } from "#platform/database/database.ts";
import type { AnnouncementClaim } from "#platform/events/event-message.ts";
import { announcedDigests } from "#platform/events/outbox.ts";
import { defineRpc, serveRpc } from "#platform/rpc/server.ts";
import type { TrustedCallers } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { type Payment, PaymentsService } from "#proto/payments/v1/payments_pb.ts";

export interface AnnouncingPayments {
  /** RPC address. */
  readonly url: string;
  /** The payments that can be read, by id. */
  readonly payments: Map<string, Payment>;
  /** If true, payments cannot be read. */
  isAway: boolean;
  stop(): Promise<void>;
}

/** Serves what followers ask. @param db of payments */
export async function startAnnouncingPayments(db: Database, trusted: TrustedCallers): Promise<AnnouncingPayments> {
  const payments = new Map<string, Payment>();
  const answers = {
    batchGetPayments: async ({ paymentIds }: { readonly paymentIds: readonly string[] }) => {
      if (source.isAway) throw new Failure("SERVICE_UNAVAILABLE");
      return { payments: paymentIds.flatMap((id) => payments.get(id) ?? []) };
    },
    confirmAnnouncements: async ({ claims }: { readonly claims: readonly AnnouncementClaim[] }) => ({
      announcedDigests: await announcedDigests(db, claims),
    }),
  };
  const server = await serveRpc({
    port: 0,
    host: "127.0.0.1",
    trusted,
    log: createLog("test", "fatal"),
    rpc: [
      defineRpc(PaymentsService, answers),
      defineRpc(CheckoutService, { confirmAnnouncements: answers.confirmAnnouncements }),
    ],
  });
  const source = { url: `http://127.0.0.1:${server.port}`, payments, isAway: false, stop: () => server.close() };
  return source;
}

/** An event as its row in the outbox has it. */
export interface OutboxEvent {
  readonly id: string;
  readonly subject: string;
  readonly body: Uint8Array;
}

/**
 * Writes events into the outbox that the test publishes itself. @returns the bytes of each; of one that was there, as
 * it was
 */
export async function noteAnnounced(db: Database, events: readonly OutboxEvent[]): Promise<Map<string, Buffer>> {
  const rows = await db.rows<{ event_id: string; body: Buffer }>(
    `insert into outbox (event_id, subject, body, published_at)
       select event_id, subject, body, now() from unnest($1::text[], $2::text[], $3::bytea[]) as e (event_id, subject, body)
     on conflict (event_id) do update set published_at = now() returning event_id, body`,
    [events.map(({ id }) => id), events.map(({ subject }) => subject), events.map(({ body }) => Buffer.from(body))],
  );
  return new Map(rows.map((row) => [row.event_id, row.body]));
}
