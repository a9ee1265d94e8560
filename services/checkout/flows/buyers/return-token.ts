// The buyer's return from a processor. The processor must not see the session secret, so the return URL has a token: an
// HMAC of the session's id, which gives access to the status only.
import { sameSecret } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Id, isId } from "#platform/values/id.ts";
import type { CheckoutContext } from "../../context.ts";
import { isLive } from "../../rules/session.ts";
import { findSession, type StoredSession } from "../../store/sessions.ts";
import { applyFact, askPayment } from "../apply-fact.ts";

/** URL of the hosted page without a secret. */
export function pageUrl(origin: string, sessionId: string): string {
  return `${origin}/c/${sessionId}`;
}

/** The processor's return URL; empty without a hosted page. */
export function returnUrlOf(
  { checkoutOrigin, hashKeys }: Pick<CheckoutContext, "checkoutOrigin" | "hashKeys">,
  id: Id<"session">,
): string {
  if (checkoutOrigin === undefined) return "";
  return `${pageUrl(checkoutOrigin, id)}?return=${hashKeys.hash(tokenSubject(id)).hash.toString("base64url")}`;
}

/**
 * The session of a returning buyer. The processor is asked about a live one, since its webhook may arrive later.
 * @throws Failure NOT_FOUND: an unknown session or a wrong token
 */
export async function describeReturn(context: CheckoutContext, id: string, token: string): Promise<StoredSession> {
  const isRight = context.hashKeys
    .hashes(tokenSubject(id))
    .map((hash) => sameSecret(hash.toString("base64url"), token))
    .includes(true);
  const session = isRight && isId("session", id) ? await findSession(context.db, id) : undefined;
  if (!session) throw new Failure("NOT_FOUND");
  if (!isLive(session.state.status)) return session;
  const isSettled = await context.readRepair.refresh(session.id, async () => {
    await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
  });
  return (isSettled && (await findSession(context.db, session.id))) || session;
}

/** The prefix separates tokens from the other values that the same keys hash. */
function tokenSubject(id: string): string {
  return `return:${id}`;
}
