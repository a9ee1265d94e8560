// Converts sessions to messages of checkout.v1.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Session, SessionSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { isPaymentReadable, paymentIdOf } from "./rules/session.ts";
import type { NewSession } from "./store/new-sessions.ts";
import type { StoredSession } from "./store/sessions.ts";

/** @param stored undefined: the session was just created */
export function toSession(session: NewSession, stored: StoredSession | undefined): Session {
  return create(SessionSchema, {
    id: session.id,
    merchantId: session.merchantId,
    environment: session.environment,
    status: stored?.state.status ?? "open",
    amount: session.amount,
    currency: session.currency,
    description: session.description,
    orderReference: session.orderReference,
    customerEmail: session.customerEmail,
    metadata: { ...session.metadata },
    connector: session.connector,
    surface: session.surface,
    captureMethod: session.captureMethod,
    paymentId: paymentIdOf(session.id),
    paymentHidden: !stored || !isPaymentReadable(stored.state),
    paymentStatus: stored?.state.paymentStatus ?? "",
    receiptUrl: stored?.state.receiptUrl ?? "",
    capturedAmount: stored?.state.capturedAmount,
    successUrl: session.successUrl,
    cancelUrl: session.cancelUrl,
    locale: session.locale,
    lineItems: session.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount })),
    expiresAt: timestampFromDate(session.expiresAt),
    createdAt: timestampFromDate(session.createdAt),
    ...(stored?.completedAt ? { completedAt: timestampFromDate(stored.completedAt) } : {}),
  });
}

/** A session for its page. Metadata is for the merchant only. */
export function toPageSession(session: StoredSession): Session {
  return { ...toSession(session, session), metadata: {} };
}
