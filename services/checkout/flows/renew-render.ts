// Replaces the render of a session: of an intent whose page ends before the session, since a page lives for a day, or
// of a declined one that moves to another account. Phases: 1 near the page's end or after a decline, payments replaces
// the intent if needed · 2 apply the payment's state · 3 store the new render.
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

// More than clocks differ. This only triggers the question; the processor decides whether the page has ended.
const askBeforeMs = 300_000;

/**
 * @returns the session and the render for the buyer's browser; render undefined: nothing can be paid
 * @throws Failure CONNECTOR_ERROR, SERVICE_UNAVAILABLE: the page has ended and is not renewRender yet
 */
export async function withCurrentRender(
  context: CheckoutContext,
  session: StoredSession,
): Promise<{ readonly session: StoredSession; readonly render: Render | undefined }> {
  const render = renderOf(context.vault, session);
  const endMs = render?.expiresAt && timestampMs(render.expiresAt);
  const isEnding = endMs !== undefined && endMs - askBeforeMs <= clockMs();
  if (!isEnding && !isDeclined(session)) return { session, render };
  try {
    return await renewRender(context, session, !isEnding);
  } catch (error) {
    const isAway = error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE";
    if (!isAway || (isEnding && endMs <= clockMs())) throw error;
    context.log.warn({ err: error, session_id: session.id }, "page end not checked: payments unavailable");
    return { session, render };
  }
}

function isDeclined({ state }: StoredSession): boolean {
  return state.status === "open" && state.paymentStatus === "failed";
}

/**
 * After a decline: moves the payment to another account, if its merchant's routing names that decline.
 * @returns true if the session has another render; false also in doubt, which the next read resolves
 */
export async function moveDeclined(context: CheckoutContext, session: StoredSession): Promise<boolean> {
  if (!isDeclined(session)) return false;
  try {
    const after = await renewRender(context, session, true);
    return (
      after.render !== undefined && !(after.session.render ?? Buffer.alloc(0)).equals(session.render ?? Buffer.alloc(0))
    );
  } catch (error) {
    context.log.warn({ err: error, session_id: session.id }, "declined payment not moved: retrying with the next read");
    return false;
  }
}

async function renewRender(context: CheckoutContext, session: StoredSession, onlyAfterDecline: boolean) {
  const { payment, render } = await context.payments.renewIntent({
    paymentId: paymentIdOf(session.id),
    onlyAfterDecline,
    description: session.description,
    returnUrl: returnUrlOf(context, session.id) || session.successUrl,
    lineItems: session.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount })),
  });
  crashPoint("renew-render.1-asked");
  const after = await applyFact(context, session, factOf(payment));
  const current = openedRender(context.vault, after);
  if (!render || !current || !after.render) return { session: after, render: renderOf(context.vault, after) };
  const bytes = toBinary(RenderSchema, render);
  if (Buffer.compare(bytes, toBinary(RenderSchema, current)) !== 0) {
    const fresh = { render: sealRender(context.vault, session.id, bytes), connector: render.connector };
    await replaceRender(context.db, session.id, after.render, fresh);
  }
  const stored = (await findSession(context.db, session.id)) ?? after;
  return { session: stored, render: renderOf(context.vault, stored) && render };
}
