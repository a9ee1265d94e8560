// Signs a person in by passkey. Begin stores a challenge. Finish: (1) consumes the challenge, so it works once; (2)
// verifies the passkey's signature; (3) in one transaction records the use, which refuses a decreased counter, starts
// the session and announces `person.signed_in`.
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { readAssertion } from "../../passkeys/answers.ts";
import { assertionOptions, PasskeyRefused, verifyAssertion } from "../../passkeys/verify-passkey.ts";
import type { Door, OpenDoor } from "../../rules/people/door.ts";
import { challengeMs } from "../../rules/people/session.ts";
import { membershipsOf } from "../../store/people/memberships.ts";
import { findPasskeyByCredential, type Passkey, recordPasskeyUse } from "../../store/people/passkeys.ts";
import { type Challenge, insertChallenge, takeChallenge } from "../../store/sign-in/challenges.ts";
import { announceOwn } from "../people/people-events.ts";
import { type BrowserInfo, beginSession, findSession, openDoor, type SessionView, viewSession } from "./session.ts";

export interface PasskeyAnswer {
  readonly challengeId: string;
  readonly responseJson: string;
}

/** Options for the browser. */
export interface PasskeyQuestion {
  readonly challengeId: string;
  readonly optionsJson: string;
}

export interface IssuedSession {
  readonly secret: string;
  readonly view: SessionView;
}

/** @throws Failure FEATURE_DISABLED */
export async function beginPasskeySignIn(context: MerchantContext, door: Door): Promise<PasskeyQuestion> {
  const { challenge, json } = await assertionOptions(openDoor(context, door));
  return await keepChallenge(context, { challenge, purpose: "sign_in", door, sessionId: null }, json);
}

/** @throws Failure UNAUTHORIZED, FEATURE_DISABLED */
export async function finishPasskeySignIn(
  context: MerchantContext,
  door: Door,
  answer: PasskeyAnswer,
  browser: BrowserInfo,
): Promise<IssuedSession> {
  const open = openDoor(context, door);
  const { passkey, counter } = await verifyAnswer(context, open, answer, { purpose: "sign_in", sessionId: null });
  const { personId } = passkey;
  const { secret, id } = await context.db.transaction(async (tx) => {
    if (!(await recordPasskeyUse(tx, passkey.id, counter, clockNow()))) throw refuseCopy(context, passkey);
    if ((await membershipsOf(tx, personId, door)).length === 0) throw new Failure("UNAUTHORIZED");
    const begun = await beginSession(context, tx, { personId, door, isFull: true, isProved: true, browser });
    await announceOwn(context, tx, { personId, door }, "person.signed_in", personId, {
      by: "passkey",
      session: begun.id,
    });
    return begun;
  });
  context.outbox.wake();
  context.mails.now();
  context.log.info({ person_id: personId, session_id: id, door }, "signed in");
  return { secret, view: await viewSession(context, await findSession(context, secret, door)) };
}

export async function keepChallenge(
  { db }: Pick<MerchantContext, "db">,
  challenge: Omit<Challenge, "id" | "expiresAt">,
  optionsJson: string,
): Promise<PasskeyQuestion> {
  const challengeId = randomToken(24);
  const expiresAt = new Date(clockNow().getTime() + challengeMs);
  await insertChallenge(db, { ...challenge, id: challengeId, expiresAt });
  return { challengeId, optionsJson };
}

/** The passkey that signed the challenge, and its new counter. @throws Failure UNAUTHORIZED */
export async function verifyAnswer(
  context: Pick<MerchantContext, "db" | "log">,
  open: OpenDoor,
  { challengeId, responseJson }: PasskeyAnswer,
  expected: Pick<Challenge, "purpose" | "sessionId">,
): Promise<{ passkey: Passkey; counter: number }> {
  const { db, log } = context;
  const challenge = await takeChallenge(db, { ...expected, id: challengeId, door: open.door });
  if (!challenge || challenge.expiresAt <= clockNow()) throw new Failure("UNAUTHORIZED");
  const answer = readAssertion(responseJson);
  const passkey = answer && (await findPasskeyByCredential(db.em(), Buffer.from(answer.id, "base64url")));
  if (!answer || passkey?.rpId !== open.rpId) throw new Failure("UNAUTHORIZED");
  try {
    // recordPasskeyUse compares the counter.
    const counter = await verifyAssertion(open, challenge.challenge, answer, { ...passkey, counter: 0 });
    return { passkey, counter };
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error;
    log.warn({ passkey_id: passkey.id, why: error.message }, "passkey rejected");
    throw new Failure("UNAUTHORIZED", { cause: error });
  }
}

/** A decreased counter means that two authenticators use the same key. */
export function refuseCopy({ log, metrics }: Pick<MerchantContext, "log" | "metrics">, passkey: Passkey): Failure {
  metrics.passkeyCopies.inc();
  log.warn({ passkey_id: passkey.id, person_id: passkey.personId }, "passkey rejected: counter decreased");
  return new Failure("UNAUTHORIZED");
}
