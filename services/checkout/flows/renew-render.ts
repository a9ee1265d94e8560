// What the browser needs to pay may end before its session does: the processor's page lives for a day, a session for up
// to thirty. Phases: 1 when its end is near, payments asks the processor, and has another one made if that says so · 2
// what it answers of the payment is applied · 3 what the browser needs now is stored.
import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Render, RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { paymentIdOf } from "../rules/session.ts";
import { findSession, replaceRender, type StoredSession } from "../store/sessions.ts";
import { applyFact, factOf } from "./apply-fact.ts";
import { returnUrlOf } from "./buyers/return-token.ts";
import { openedRender, renderOf, sealRender } from "./session-secret.ts";

// Clocks differ by far less. Only a reason to ask: the processor alone says when a page has ended.
const askBeforeMs = 300_000;

/**
 * The session, and what its buyer's browser needs; undefined: nothing can be paid.
 * @throws Failure CONNECTOR_ERROR, SERVICE_UNAVAILABLE: its page has ended, and no other one is there yet
 */
export async function withLivingRender(
  context: CheckoutContext,
  session: StoredSession,
): Promise<{ readonly session: StoredSession; readonly render: Render | undefined }> {
  const render = renderOf(context.vault, session);
  const endMs = render?.expiresAt && timestampMs(render.expiresAt);
  if (endMs === undefined || endMs - askBeforeMs > clockMs()) return { session, render };
  try {
    return await renewed(context, session);
  } catch (error) {
    const isAway = error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE";
    if (!isAway || endMs <= clockMs()) throw error;
    context.log.warn({ err: error, session_id: session.id }, "nobody says whether a page has ended; it is shown");
    return { session, render };
  }
}

async function renewed(context: CheckoutContext, session: StoredSession) {
  const { payment, render } = await context.payments.renewIntent({
    paymentId: paymentIdOf(session.id),
    description: session.description,
    returnUrl: returnUrlOf(context, session.id) || session.successUrl,
    lineItems: session.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount })),
  });
  crashPoint("renew-render.1-asked");
  const after = await applyFact(context, session, factOf(payment));
  const known = openedRender(context.vault, after);
  if (!render || !known || !after.render) return { session: after, render: renderOf(context.vault, after) };
  const bytes = toBinary(RenderSchema, render);
  if (Buffer.compare(bytes, toBinary(RenderSchema, known)) !== 0) {
    await replaceRender(context.db, session.id, after.render, sealRender(context.vault, session.id, bytes));
  }
  const stored = (await findSession(context.db, session.id)) ?? after;
  return { session: stored, render: renderOf(context.vault, stored) && render };
}
