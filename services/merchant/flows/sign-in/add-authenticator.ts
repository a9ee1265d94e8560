// Sets up an authenticator app for people who cannot use passkeys. Begin stores its encrypted secret as pending. Finish
// verifies the first code in ONE transaction, replaces the previous app, makes the session full and proved under a new
// secret, and announces `authenticator.added`.
import { randomBytes } from "node:crypto";
import { clockNow } from "#platform/values/clock.ts";
import type { MerchantContext } from "../../context.ts";
import { setupOf } from "../../rules/people/one-time-code.ts";
import { putPending } from "../../store/people/authenticators.ts";
import { hasSignInMethod } from "../../store/people/persons.ts";
import { notifySignInMethodAdded } from "../people/notify-person.ts";
import { announceOwn } from "../people/people-events.ts";
import { assertMayAddSignInMethod } from "./add-passkey.ts";
import { checkCode, countWrongCode, sealFor, wrongCode } from "./check-code.ts";
import { findSession, renewSession, viewSession } from "./session.ts";
import type { IssuedSession } from "./sign-in-by-passkey.ts";

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
