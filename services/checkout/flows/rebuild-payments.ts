// Makes payments rebuild what its restored database lacks: each session since a time gives the order of its payment.
// One call per session, safe to repeat. A paid payment's event then completes the session.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database/database.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { type PaymentRecoveryService, RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { paymentIdOf } from "../rules/session.ts";
import { sessionsSince } from "../store/session-lists.ts";
import type { StoredSession } from "../store/sessions.ts";

export interface RebuildContext {
  readonly db: Database;
  readonly log: Log;
  readonly lostPayments: Pick<Client<typeof PaymentRecoveryService>, "rebuildPayment">;
}

// Each session costs one or two processor calls, so a page stays well within the deadline.
const pageMax = 10;

/** @param after the last session of the page before, or empty */
export async function rebuildPayments(context: RebuildContext, since: Date, after: string) {
  const sessions = await sessionsSince(context.db, since, after, pageMax);
  const payments = await Promise.all(sessions.map((session) => rebuiltOrFailed(context, session)));
  return { payments, next: sessions.length === pageMax ? (sessions.at(-1)?.id ?? "") : "" };
}

async function rebuiltOrFailed({ lostPayments, log }: RebuildContext, session: StoredSession) {
  const { id: sessionId, merchantId, environment, amount, currency, description, customerEmail, metadata } = session;
  const { orderReference } = session;
  const order = { sessionId, merchantId, environment, amount, currency, description, orderReference, customerEmail };
  const paymentId = paymentIdOf(sessionId);
  const expiresAt = timestampFromDate(session.expiresAt);
  try {
    const { rebuilt } = await lostPayments.rebuildPayment({
      ...order,
      paymentId,
      metadata: { ...metadata },
      expiresAt,
    });
    return { paymentId, outcome: rebuilt?.outcome ?? RebuildOutcome.FAILED, status: rebuilt?.status ?? "" };
  } catch (error) {
    log.warn({ err: error, session_id: sessionId }, "payment rebuild failed");
    return { paymentId, outcome: RebuildOutcome.FAILED, status: "" };
  }
}
