// Rebuilds a session, or the key of a payment without one, that a restored database lacks, from the image in its event.
// Phases, each safe to rerun: 1 payments rebuilds the payment; without it the session stays lost · 2 insert session,
// key and stored answer in one transaction · 3 apply the payment's state.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Id } from "#platform/values/id.ts";
import { isId } from "#platform/values/id.ts";
import {
  type CreateSessionResponse,
  CreateSessionResponseSchema,
  type Session,
} from "#proto/checkout/v1/checkout_pb.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { insertSessions, type NewSession } from "../store/new-sessions.ts";
import { findSession } from "../store/sessions.ts";
import { applyFact, askPayment } from "./apply-fact.ts";
import type { RebuildContext } from "./rebuild-payments.ts";
import { openImage } from "./session-image.ts";
import { sealRender } from "./session-secret.ts";

export type RebuildSessionContext = CheckoutContext & RebuildContext;

interface RebuiltSession {
  readonly sessionId: string;
  readonly outcome: RebuildOutcome;
  readonly status: string;
}

/** @returns undefined: the event creates neither a session nor a payment */
export async function rebuildSession(
  context: RebuildSessionContext,
  body: Uint8Array,
): Promise<RebuiltSession | undefined> {
  const event = fromBinary(EventSchema, body);
  const { objectId: sessionId, type } = event;
  try {
    if (type === "session.created" && isId("session", sessionId)) {
      return { sessionId, ...(await rebuildFrom(context, sessionId, event)) };
    }
    if (type !== "payment.requested" || !isId("payment", sessionId)) return undefined;
    return { sessionId, ...(await restoreKey(context, sessionId, event)) };
  } catch (error) {
    context.log.warn({ err: error, session_id: sessionId }, "session rebuild failed");
    return { sessionId, outcome: RebuildOutcome.FAILED, status: "" };
  }
}

async function rebuildFrom(context: RebuildSessionContext, id: Id<"session">, { attributes }: Event) {
  const existing = await findSession(context.db, id);
  if (existing) return { outcome: RebuildOutcome.KNOWN, status: existing.state.status };
  if (!attributes.image) throw new Error("its event has no image");
  const { response, key, fingerprint } = openImage(context.vault, id, attributes.image);
  if (!response) throw new Error("an image without its session");
  const session = newSession(id, response.session);
  const { rebuilt } = await context.lostPayments.rebuildPayment({
    paymentId: response.session?.paymentId ?? "",
    sessionId: id,
    merchantId: session.merchantId,
    environment: session.environment,
    amount: session.amount,
    currency: session.currency,
    description: session.description,
    orderReference: session.orderReference,
    customerEmail: session.customerEmail,
    metadata: { ...session.metadata },
    captureMethod: session.captureMethod,
    ...(response.session?.expiresAt && { expiresAt: response.session.expiresAt }),
  });
  if (rebuilt?.outcome === RebuildOutcome.NOT_FOUND) return { outcome: RebuildOutcome.NOT_FOUND, status: "" };
  await adoptSession(context, session, response, { key, fingerprint });
  const stored = await findSession(context.db, id);
  if (!stored) throw new Error("the rebuilt session is missing");
  const after = await applyFact(context, stored, await askPayment(context, stored, "verifyIntent"));
  return { outcome: RebuildOutcome.REBUILT, status: after.state.status };
}

/** Restores a key, so that a retry resumes its payment and never creates another. */
async function restoreKey(context: RebuildSessionContext, id: Id<"payment">, event: Event) {
  const { merchantId, environment, attributes } = event;
  const { key, fingerprint } = openImage(context.vault, id, attributes.image ?? "");
  const { rebuilt } = await context.lostPayments.rebuildPayment({ paymentId: id, merchantId, environment });
  await context.keys.restore(
    context.db,
    { merchantId, environment, operation: "create_payment", key, fingerprint },
    id,
  );
  return { outcome: rebuilt?.outcome ?? RebuildOutcome.FAILED, status: rebuilt?.status ?? "" };
}

/** Phase 2. The session keeps the secret that its buyer has. */
async function adoptSession(
  context: RebuildSessionContext,
  session: NewSession,
  response: CreateSessionResponse,
  { key, fingerprint }: { key: string; fingerprint: Uint8Array },
): Promise<void> {
  const { id, merchantId, environment } = session;
  const render = sealRender(context.vault, id, toBinary(RenderSchema, response.render ?? create(RenderSchema)));
  const secretHash = context.hashKeys.hash(response.sessionSecret);
  const nothing = { events: { ids: [], subjects: [], bodies: [] }, results: [] };
  const scope = { merchantId, environment, operation: "create_session", key, fingerprint };
  const bytes = toBinary(CreateSessionResponseSchema, response);
  await context.db.transaction(async (tx) => {
    await insertSessions(tx, [{ session, secretHash, render, ...nothing }]);
    if (key !== "") await context.keys.restore(tx, scope, id, { kind: "response", bytes });
  });
}

function newSession(id: Id<"session">, session: Session | undefined): NewSession {
  if (!session?.createdAt || !session.expiresAt) throw new Error("an image without its times");
  const { $typeName: _, createdAt, expiresAt, ...same } = session;
  const captureMethod = same.captureMethod || "automatic";
  return { ...same, captureMethod, id, createdAt: timestampDate(createdAt), expiresAt: timestampDate(expiresAt) };
}
