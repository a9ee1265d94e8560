// Proves again, in a session, that it is still the same person: by passkey, as a sign-in is, or by the authenticator
// app's code. What is grave needs a proof within five minutes.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { assertionOptions } from "../../passkeys/verify-passkey.ts";
import { proveSession, type SessionRow } from "../../store/people/console-sessions.ts";
import { passkeysOf, recordPasskeyUse } from "../../store/people/passkeys.ts";
import { checkCode, countWrongCode, wrongCode } from "./check-code.ts";
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
): Promise<PasskeyQuestion & { takesCode: boolean }> {
  const { id: sessionId, door, person, hasAuthenticator: takesCode } = await findFullSession(context, sessionSecret);
  const open = openDoor(context, door);
  const known = await passkeysOf(context.db.em(), person.id, open.rpId);
  if (known.length === 0) return { challengeId: "", optionsJson: "", takesCode };
  const { challenge, json } = await assertionOptions(open, known);
  return { ...(await keepChallenge(context, { challenge, purpose: "prove", door, sessionId }, json)), takesCode };
}

/** @param proof `code` empty: by passkey. @throws Failure UNAUTHORIZED, FORBIDDEN, INVALID_BODY (field `code`) */
export async function finishProof(
  context: MerchantContext,
  sessionSecret: string,
  proof: PasskeyAnswer & { readonly code: string },
): Promise<SessionView> {
  const session = await findFullSession(context, sessionSecret);
  if (proof.code === "") await proveByPasskey(context, session, proof);
  else await proveByCode(context, session, proof.code);
  return await viewSession(context, await findFullSession(context, sessionSecret));
}

async function proveByPasskey(context: MerchantContext, session: SessionRow, answer: PasskeyAnswer): Promise<void> {
  const given = { purpose: "prove", sessionId: session.id } as const;
  const { passkey, counter } = await verifyAnswer(context, openDoor(context, session.door), answer, given);
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

async function keepProof(tx: MappedTx, session: SessionRow): Promise<void> {
  if (!(await proveSession(tx, session.id, clockNow()))) throw new Failure("UNAUTHORIZED");
}
