// Tokens of a session's page, which open less than its secret: an HMAC of the session's id and the purpose. The return
// token, which the processor sees, gives access to the status only; the receipt token to the receipt of a paid session.
import { type HashKeys, sameSecret } from "#platform/secrets/vault.ts";
import { requireFound } from "#platform/values/failure.ts";
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
  return checkoutOrigin === undefined ? "" : urlWithToken(checkoutOrigin, hashKeys, "return", id);
}

/** The receipt page; empty without a hosted page, or before the session is completed. */
export function receiptUrlOf(
  { checkoutOrigin, hashKeys }: Pick<CheckoutContext, "checkoutOrigin" | "hashKeys">,
  { id, state }: Pick<StoredSession, "id" | "state">,
): string {
  if (checkoutOrigin === undefined || state.status !== "completed") return "";
  return urlWithToken(checkoutOrigin, hashKeys, "receipt", id);
}

type Purpose = "return" | "receipt";

function urlWithToken(origin: string, hashKeys: HashKeys, purpose: Purpose, id: Id<"session">): string {
  const token = hashKeys.hash(tokenSubject(purpose, id)).hash.toString("base64url");
  return `${pageUrl(origin, id)}?${purpose}=${token}`;
}

/**
 * The session of a returning buyer. The processor is asked about a live one, since its webhook may arrive later.
 * @param redirectResult of a bank's page, with which the attempt is finished first; empty: none
 * @throws Failure NOT_FOUND: an unknown session or a wrong token; CONNECTOR_ERROR: the attempt is not finished yet
 */
export async function describeReturn(
  context: CheckoutContext,
  id: string,
  token: string,
  redirectResult: string,
): Promise<StoredSession> {
  const session = await openWithToken(context, "return", id, token);
  if (!isLive(session.state.status)) return session;
  if (redirectResult !== "")
    return await applyFact(context, session, await askPayment(context, session, "verifyIntent", redirectResult));
  const isSettled = await context.readRepair.refresh(session.id, async () => {
    await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
  });
  return (isSettled && (await findSession(context.db, session.id))) || session;
}

/** @throws Failure NOT_FOUND: an unknown session or a wrong token */
export async function openWithToken(
  context: Pick<CheckoutContext, "db" | "hashKeys">,
  purpose: Purpose,
  id: string,
  token: string,
): Promise<StoredSession> {
  const isRight = context.hashKeys
    .hashes(tokenSubject(purpose, id))
    .map((hash) => sameSecret(hash.toString("base64url"), token))
    .includes(true);
  const session = requireFound(isRight && isId("session", id) ? await findSession(context.db, id) : undefined);
  return session;
}

/** The prefix separates tokens from the other values that the same keys hash. */
function tokenSubject(purpose: Purpose, id: string): string {
  return `${purpose}:${id}`;
}
