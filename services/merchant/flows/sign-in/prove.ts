// Verifies again that the person of a session is present: by passkey, by an authenticator code, or by a fresh sign-in
// at the identity provider. Sensitive actions need a proof within five minutes.
import type { Vault } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { assertionOptions } from "../../passkeys/verify-passkey.ts";
import { judgeCode } from "../../rules/people/one-time-code.ts";
import { provedUntil, wrongCodesMax } from "../../rules/people/session.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { type Authenticator, lockAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSession, proveSession, recordWrongCode, type SessionRow } from "../../store/people/console-sessions.ts";
import { passkeysOf, recordPasskeyUse } from "../../store/people/passkeys.ts";
import { findLinked, isLinked } from "../../store/sign-in/provider-links.ts";
import { announceOwn } from "../people/people-events.ts";
import { consumeToken, type ProviderToken, verifyToken } from "./provider.ts";
import { findFullSession, openDoor, type SessionView, viewSession } from "./session.ts";
import {
  keepChallenge,
  type PasskeyAnswer,
  type PasskeyQuestion,
  refuseCopy,
  verifyAnswer,
} from "./sign-in-by-passkey.ts";

/** @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function beginProof(
  context: MerchantContext,
  sessionSecret: string,
): Promise<PasskeyQuestion & { takesCode: boolean; takesProvider: boolean }> {
  const { id: sessionId, door, person, hasAuthenticator: takesCode } = await findFullSession(context, sessionSecret);
  const open = openDoor(context, door);
  const { issuer } = context.provider ?? {};
  const takesProvider = issuer !== undefined && (await isLinked(context.db, issuer, person.id));
  const others = { takesCode, takesProvider };
  const known = await passkeysOf(context.db.em(), person.id, open.rpId);
  if (known.length === 0) return { challengeId: "", optionsJson: "", ...others };
  const { challenge, json } = await assertionOptions(open, known);
  return { ...(await keepChallenge(context, { challenge, purpose: "prove", door, sessionId }, json)), ...others };
}

/**
 * @param proof a token, a code, or a passkey's response
 * @throws Failure UNAUTHORIZED, FORBIDDEN, INVALID_BODY (field `code`), FEATURE_DISABLED, SERVICE_UNAVAILABLE
 */
export async function finishProof(
  context: MerchantContext,
  sessionSecret: string,
  proof: PasskeyAnswer & ProviderToken & { readonly code: string },
): Promise<SessionView> {
  const session = await findFullSession(context, sessionSecret);
  if (proof.idToken !== "") await proveByProvider(context, session, proof);
  else if (proof.code !== "") await proveByCode(context, session, proof.code);
  else await proveByPasskey(context, session, proof);
  return await viewSession(context, await findFullSession(context, sessionSecret));
}

async function proveByPasskey(context: MerchantContext, session: SessionRow, answer: PasskeyAnswer): Promise<void> {
  const expected = { purpose: "prove", sessionId: session.id } as const;
  const { passkey, counter } = await verifyAnswer(context, openDoor(context, session.door), answer, expected);
  if (passkey.personId !== session.person.id) throw new Failure("UNAUTHORIZED");
  await context.db.transaction(async (tx) => {
    if (!(await recordPasskeyUse(tx, passkey.id, counter, clockNow()))) throw refuseCopy(context, passkey);
    await keepProof(tx, session);
  });
}

async function proveByCode(context: MerchantContext, session: SessionRow, code: string): Promise<void> {
  const isProved = await context.db.transaction(async (tx) => {
    const { isRight } = await checkCode(context.vault, tx, session.person.id, code, "secret");
    if (isRight) await keepProof(tx, session);
    else await countWrongCode(context, tx, session);
    return isRight;
  });
  context.outbox.wake();
  if (!isProved) throw wrongCode();
}

/** The proof's time is the time of the sign-in at the provider. */
async function proveByProvider(context: MerchantContext, session: SessionRow, token: ProviderToken): Promise<void> {
  const { issuer, subject, provedAt } = await verifyToken(context, token);
  const now = clockNow();
  if (!provedAt || !provedUntil(provedAt, now)) throw new Failure("UNAUTHORIZED");
  await context.db.transaction(async (tx) => {
    await consumeToken(tx, token);
    if ((await findLinked(tx, issuer, subject)) !== session.person.id) throw new Failure("UNAUTHORIZED");
    await keepProof(tx, session, new Date(Math.min(provedAt.getTime(), now.getTime())));
  });
}

async function keepProof(tx: MappedTx, session: SessionRow, at = clockNow()): Promise<void> {
  if (!(await proveSession(tx, session.id, at))) throw new Failure("UNAUTHORIZED");
}

export const wrongCode = () => invalidField("code", "is wrong, or was used before");

export function sealFor(vault: Vault, personId: string, secret: Uint8Array): Buffer {
  return vault.encrypt(secret, contextOf(personId));
}

/** @param of `secret` for the active app, `pending` for the one in setup */
export async function checkCode(
  vault: Vault,
  tx: MappedTx,
  personId: string,
  code: string,
  of: "secret" | "pending",
): Promise<{ isRight: boolean; app: Authenticator | null }> {
  const app = await lockAuthenticator(tx.em, personId);
  const sealed = app?.[of];
  if (!app || !sealed) return { isRight: false, app };
  const state = of === "pending" ? { ...app, lastStep: 0n } : app;
  const { isRight, ...next } = judgeCode(vault.decrypt(sealed, contextOf(personId)), code, state, clockNow());
  tx.em.assign(app, of === "pending" && !isRight ? { ...next, lastStep: app.lastStep } : next);
  return { isRight, app };
}

/** The sixth wrong code ends the session: it is probably stolen. */
export async function countWrongCode(context: MerchantContext, tx: MappedTx, session: SessionRow): Promise<void> {
  if ((await recordWrongCode(tx, session.id)) <= wrongCodesMax) return;
  const { person, door } = session;
  if (await deleteSession(tx.em, session.id)) {
    await announceOwn(context, tx, { personId: person.id, door }, "session.ended", session.id, { why: "wrong codes" });
  }
}

function contextOf(personId: string): string {
  return `authenticator:${personId}`;
}
