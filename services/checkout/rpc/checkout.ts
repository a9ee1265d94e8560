// checkout.v1.CheckoutService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { scopeOf } from "#platform/database/idempotency.ts";
import { announcedDigests } from "#platform/events/outbox.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { readPage } from "#platform/lists/dated-list.ts";
import type { Recovery } from "#platform/service/recovery.ts";
import { requireFound } from "#platform/values/failure.ts";
import type { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { describeReceipt, mailReceipt } from "../flows/buyers/describe-receipt.ts";
import { giveEmail } from "../flows/buyers/give-email.ts";
import { describeReturn, receiptUrlOf, returnUrlOf } from "../flows/buyers/return-token.ts";
import { sendAskedReceipt } from "../flows/buyers/send-receipt.ts";
import { confirmSession } from "../flows/confirm-session.ts";
import { createPayment } from "../flows/create-payment.ts";
import { createSession } from "../flows/create-session.ts";
import { describePage } from "../flows/describe-page.ts";
import { expireSession } from "../flows/expire-session.ts";
import { readSession } from "../flows/read-session.ts";
import { refreshSession } from "../flows/refresh-session.ts";
import { resolveSession } from "../flows/resolve-session.ts";
import { toPageSession, toSession } from "../messages.ts";
import { paymentIdOf } from "../rules/session.ts";
import { findOwnSession, listSessions } from "../store/session-lists.ts";
import { findSessions, type StoredSession } from "../store/sessions.ts";

const expiresInSecondsDefault = 86_400; // docs/contract.md §4

/** @param context.recovery blocks new requests, since a lost key or session may belong to money that moved */
export function checkoutRpc(
  context: CheckoutContext & { readonly recovery: Pick<Recovery, "assertOff"> },
): ServiceImpl<typeof CheckoutService> {
  const toWire = (session: StoredSession) => toSession(session, session);
  return {
    createSession: (request) => {
      context.recovery.assertOff();
      return createSession(context, {
        ...request,
        paymentLinkId: "",
        captureMethod: request.captureMethod || "automatic",
        expiresInSeconds: request.expiresInSeconds || expiresInSecondsDefault,
        idempotency: scopeOf("create_session", request),
      });
    },
    createPayment: (request) => {
      context.recovery.assertOff();
      return createPayment(context, request);
    },
    getSession: async (request) => {
      const session = await readSession(context, request, request.sessionId);
      return { session: toWire(await refreshSession(context, session)) };
    },
    batchGetSessions: async ({ sessionIds }) => {
      const found = await findSessions(context.db, sessionIds);
      const sessions = found.flatMap((session) => (session ? [toWire(session)] : []));
      return { sessions, missingIds: sessionIds.filter((_, i) => !found[i]) };
    },
    listSessions: async (request) => {
      const range = { from: request.from && timestampDate(request.from), to: request.to && timestampDate(request.to) };
      const filter = { ...request, ...range };
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(context.db, "sessions", request, id),
        (window) => listSessions(context.db, filter, window),
      );
      const archivedBefore = await context.archive.archivedBefore();
      return { sessions: rows.map(toWire), total, hasMore, ...messageFields({ archivedBefore }) };
    },
    expireSession: async (request) => ({ session: toWire(await expireSession(context, request, request.sessionId)) }),
    resolveSession: async ({ sessionId, sessionSecret, address }) => {
      const { session, render } = await resolveSession(context, sessionId, sessionSecret, address);
      const takesEmail = session.state.status === "open" && (session.customerEmail === "" || session.emailTurn > 0);
      const urls = { returnUrl: returnUrlOf(context, session.id), receiptPageUrl: receiptUrlOf(context, session) };
      return { session: toPageSession(session), takesEmail, ...urls, ...(render ? { render } : {}) };
    },
    describePage: async ({ sessionId }) => await describePage(context, sessionId),
    describeReturn: async ({ sessionId, returnToken, redirectResult }) => {
      const session = await describeReturn(context, sessionId, returnToken, redirectResult);
      const { status, successUrl, cancelUrl } = toPageSession(session);
      return { status, successUrl, cancelUrl };
    },
    describeReceipt: ({ sessionId, receiptToken }) => describeReceipt(context, sessionId, receiptToken),
    mailReceipt: async ({ sessionId, receiptToken }) => ({
      queued: await mailReceipt(context, sessionId, receiptToken),
    }),
    resendReceipt: async (request) => {
      const session = requireFound(await findOwnSession(context.db, request, request.sessionId));
      return { queued: await sendAskedReceipt(context, session, request.requestKey) };
    },
    giveEmail: ({ sessionId, sessionSecret, customerEmail }) =>
      giveEmail(context, sessionId, sessionSecret, customerEmail),
    confirmSession: async ({ sessionId, sessionSecret, address }) => {
      const { session, failure, ...rest } = await confirmSession(context, sessionId, sessionSecret, address);
      return { ...rest, sessionId: session.id, paymentId: paymentIdOf(session.id), ...(failure && { failure }) };
    },
    confirmAnnouncements: async ({ claims }) => {
      const digests = await announcedDigests(context.db, claims);
      // During a recovery an unknown event may have been announced; its consumers ask again.
      if (digests.length < claims.length) context.recovery.assertOff();
      return { announcedDigests: digests };
    },
  };
}
