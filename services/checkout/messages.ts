// Converts sessions and payment links to messages of checkout.v1.
import { create } from "@bufbuild/protobuf";
import { messageFields } from "#platform/database/columns.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Id } from "#platform/values/id.ts";
import { type Session, SessionSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { type PaymentLink, PaymentLinkSchema } from "#proto/checkout/v1/links_pb.ts";
import { type Erasure, ErasureSchema } from "#proto/checkout/v1/privacy_pb.ts";
import { linkState } from "./rules/payment-link.ts";
import { isPaymentReadable, paymentIdOf } from "./rules/session.ts";
import type { StoredErasure } from "./store/erasures.ts";
import type { NewSession } from "./store/new-sessions.ts";
import type { StoredLink } from "./store/payment-links.ts";
import type { StoredSession } from "./store/sessions.ts";

/** @param stored undefined: the session was just created */
export function toSession(session: NewSession, stored: StoredSession | undefined): Session {
  return create(SessionSchema, {
    ...messageFields(session),
    status: stored?.state.status ?? "open",
    metadata: { ...session.metadata },
    paymentId: paymentIdOf(session.id),
    paymentHidden: !stored || !isPaymentReadable(stored.state),
    paymentStatus: stored?.state.paymentStatus ?? "",
    receiptUrl: stored?.state.receiptUrl ?? "",
    capturedAmount: stored?.state.capturedAmount,
    version: stored?.version ?? 0,
    lineItems: session.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount })),
  });
}

/** A session for its page. Metadata is for the merchant only, and a link that is paid is no way back. */
export function toPageSession(session: StoredSession): Session {
  const isPaidByLink = session.state.status === "completed" && session.paymentLinkId !== "";
  const shown = { ...toSession(session, session), metadata: {} };
  return isPaidByLink ? { ...shown, cancelUrl: "" } : shown;
}

/** Public address of a link; empty without a hosted page. */
export function linkUrl(origin: string | undefined, id: Id<"paymentLink">): string {
  return origin === undefined ? "" : `${origin}/l/${id}`;
}

/** @param origin of the hosted page */
export function toPaymentLink(origin: string | undefined, link: StoredLink): PaymentLink {
  return create(PaymentLinkSchema, {
    ...messageFields(link),
    lineItems: link.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount })),
    usesMax: link.usesMax ?? 0,
    state: linkState(link, link, clockNow()),
    url: linkUrl(origin, link.id),
  });
}

/** @param copiesDays how long backups and sealed copies live */
export function toErasure(erasure: StoredErasure, copiesDays: number): Erasure {
  const copiesUntil = new Date(erasure.createdAt.getTime() + copiesDays * 86_400_000);
  const status = erasure.finishedAt ? "finished" : "running";
  return create(ErasureSchema, { ...messageFields({ ...erasure, copiesUntil }), status });
}
