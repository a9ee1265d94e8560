// Adds a passkey or an authenticator app to the session's person. A passkey begins with a stored challenge. Finish: (1)
// consumes the challenge; (2) verifies the browser's response; (3) in one transaction stores the passkey, makes the
// session full and proved under a new secret, and announces `passkey.added`.

import { randomBytes } from "node:crypto";
import { isDuplicate } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import { readRegistration } from "../../passkeys/answers.ts";
import { PasskeyRefused, registrationOptions, verifyNewPasskey } from "../../passkeys/verify-passkey.ts";
import type { OpenDoor } from "../../rules/people/door.ts";
import { setupOf } from "../../rules/people/one-time-code.ts";
import { normalName } from "../../rules/people/person.ts";
import { putPending } from "../../store/people/authenticators.ts";
import type { SessionRow } from "../../store/people/console-sessions.ts";
import { insertPasskey, passkeysOf } from "../../store/people/passkeys.ts";
import { hasSignInMethod, lockPerson } from "../../store/people/persons.ts";
import { takeChallenge } from "../../store/sign-in/challenges.ts";
import { notifySignInMethodAdded } from "../people/notify-people.ts";
import { announceOwn } from "../people/people-events.ts";
import { checkCode, countWrongCode, sealFor, wrongCode } from "./prove.ts";
import { assertProved, findSession, openDoor, renewSession, viewSession } from "./session.ts";
import { type IssuedSession, keepChallenge, type PasskeyAnswer, type PasskeyQuestion } from "./sign-in-by-passkey.ts";

/** More than a person needs; each passkey is a risk. */
const passkeysMax = 20;

/** @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function beginPasskey(context: MerchantContext, secret: string): Promise<PasskeyQuestion> {
  const session = await findSession(context, secret);
  assertMayAddSignInMethod(session);
  const open = openDoor(context, session.door);
  const known = await passkeysOf(context.db.em(), session.person.id, open.rpId);
  const { challenge, json } = await registrationOptions(open, session.person, known);
  const kept = { challenge, purpose: "add", door: session.door, sessionId: session.id } as const;
  return await keepChallenge(context, kept, json);
}

/** @throws Failure UNAUTHORIZED, FORBIDDEN, INVALID_BODY */
export async function finishPasskey(
  context: MerchantContext,
  secret: string,
  answer: PasskeyAnswer,
  name: string,
): Promise<IssuedSession> {
  const session = await findSession(context, secret);
  assertMayAddSignInMethod(session);
  const open = openDoor(context, session.door);
  const made = await verifyNew(context, open, session, answer);
  const fresh = await keepPasskey(context, open, session, { ...made, name: normalName(name).slice(0, 100) });
  context.outbox.wake();
  context.mails.now();
  return { secret: fresh, view: await viewSession(context, await findSession(context, fresh)) };
}

/** The first sign-in method needs no proof; each further one does. @throws Failure FORBIDDEN */
function assertMayAddSignInMethod(session: SessionRow): void {
  if (session.isFull) assertProved(session);
}

async function verifyNew(
  { db, log }: MerchantContext,
  open: OpenDoor,
  { id: sessionId, door, person }: SessionRow,
  { challengeId, responseJson }: PasskeyAnswer,
) {
  const challenge = await takeChallenge(db, { id: challengeId, purpose: "add", door, sessionId });
  if (!challenge || challenge.expiresAt <= clockNow()) throw invalidField("challenge_id", "has expired");
  const answer = readRegistration(responseJson);
  if (!answer) throw invalidField("response_json", "must be a passkey's response");
  try {
    return await verifyNewPasskey(open, challenge.challenge, answer);
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error;
    log.warn({ person_id: person.id, why: error.message }, "new passkey rejected");
    throw new Failure("INVALID_BODY", {
      cause: error,
      violations: [{ field: "response_json", problem: "does not prove a passkey" }],
    });
  }
}

async function keepPasskey(
  context: MerchantContext,
  { rpId }: OpenDoor,
  session: SessionRow,
  made: Awaited<ReturnType<typeof verifyNewPasskey>> & { readonly name: string },
): Promise<string> {
  const { id: sessionId, person, door } = session;
  const passkey = { id: newId("passkey"), personId: person.id, rpId, ...made, createdAt: clockNow(), lastUsedAt: null };
  try {
    return await context.db.transaction(async (tx) => {
      // The lock keeps the count below the limit.
      await lockPerson(tx.em, person.id);
      if ((await passkeysOf(tx.em, person.id, rpId)).length >= passkeysMax) throw new Failure("FORBIDDEN");
      if (await hasSignInMethod(tx, person.id)) await notifySignInMethodAdded(context, tx, session);
      await insertPasskey(tx.em, passkey);
      await announceOwn(context, tx, { personId: person.id, door }, "passkey.added", passkey.id, {
        name: passkey.name,
      });
      return await renewSession(context, tx, sessionId);
    });
  } catch (error) {
    if (isDuplicate(error)) throw invalidField("response_json", "is a passkey that exists already");
    throw error;
  }
}

/** Recommended by RFC 4226 §4. */
const secretBytes = 20;

/** @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function beginAuthenticator(
  context: MerchantContext,
  sessionSecret: string,
): Promise<{ secret: string; uri: string }> {
  const session = await findSession(context, sessionSecret);
  assertMayAddSignInMethod(session);
  const secret = randomBytes(secretBytes);
  const { id, email } = session.person;
  const sealed = sealFor(context.vault, id, secret);
  await context.db.transaction((tx) => putPending(tx.em, id, sealed, clockNow()));
  return setupOf(secret, email);
}

/** @throws Failure UNAUTHORIZED, FORBIDDEN, INVALID_BODY (field `code`) */
export async function finishAuthenticator(
  context: MerchantContext,
  sessionSecret: string,
  code: string,
): Promise<IssuedSession> {
  const session = await findSession(context, sessionSecret);
  assertMayAddSignInMethod(session);
  const { person, door, id } = session;
  const secret = await context.db.transaction(async (tx) => {
    const { isRight, app } = await checkCode(context.vault, tx, person.id, code, "pending");
    if (!isRight || !app) {
      await countWrongCode(context, tx, session);
      return undefined;
    }
    if (await hasSignInMethod(tx, person.id)) await notifySignInMethodAdded(context, tx, session);
    tx.em.assign(app, { secret: app.pending, pending: null, confirmedAt: clockNow() });
    await announceOwn(context, tx, { personId: person.id, door }, "authenticator.added", person.id);
    return await renewSession(context, tx, id);
  });
  context.outbox.wake();
  context.mails.now();
  if (secret === undefined) throw wrongCode();
  return { secret, view: await viewSession(context, await findSession(context, secret)) };
}
