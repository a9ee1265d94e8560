// A person's own access: reads it, changes the name, removes sign-in methods, ends sessions. Each change is ONE
// transaction that announces it.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { languageOf, nameViolations, normalName } from "../../rules/people/person.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { deleteAuthenticator, findAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSession, type SessionPerson, type SessionRow, sessionsOf } from "../../store/people/console-sessions.ts";
import { deletePasskey, passkeysOf } from "../../store/people/passkeys.ts";
import { lockPerson } from "../../store/people/persons.ts";
import { announceOwn } from "../people/people-events.ts";
import { assertProved, findFullSession, openDoor } from "./session.ts";

/** Passkeys of this console, the app, and open sessions of both consoles. @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function readOwnAccess(context: MerchantContext, sessionSecret: string) {
  const session = await findFullSession(context, sessionSecret);
  const em = context.db.em();
  const { id } = session.person;
  const passkeys = await passkeysOf(em, id, openDoor(context, session.door).rpId);
  const authenticatorSince = (await findAuthenticator(em, id))?.confirmedAt ?? undefined;
  return { session, passkeys, authenticatorSince, sessions: await sessionsOf(em, id, clockNow()) };
}

/** Absent fields stay unchanged. @throws Failure UNAUTHORIZED, FORBIDDEN, INVALID_BODY */
export async function updatePerson(
  context: MerchantContext,
  sessionSecret: string,
  change: { readonly name: string | undefined; readonly language: string | undefined },
): Promise<SessionPerson> {
  const { person, door } = await findFullSession(context, sessionSecret);
  const name = normalName(change.name ?? person.name);
  const violations = nameViolations(name);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const language = languageOf(change.language ?? person.language);
  if (name === person.name && language === person.language) return person;
  await context.db.transaction(async (tx) => {
    const row = await lockPerson(tx.em, person.id);
    if (!row) throw new Failure("UNAUTHORIZED");
    tx.em.assign(row, { name, language });
    const attributes = { name, name_before: person.name, language };
    await announceOwn(context, tx, { personId: person.id, door }, "person.changed", person.id, attributes);
  });
  context.outbox.wake();
  return { ...person, name, language };
}

/** @param passkeyId empty for the authenticator app @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND */
export async function removeSignInMethod(
  context: MerchantContext,
  sessionSecret: string,
  passkeyId: string,
): Promise<void> {
  const session = await findFullSession(context, sessionSecret);
  assertProved(session);
  const { person, door } = session;
  const own = { personId: person.id, door };
  await context.db.transaction(async (tx) => {
    // The lock keeps two concurrent removals from removing the last sign-in method.
    await lockPerson(tx.em, person.id);
    if (passkeyId !== "") {
      if (!(await deletePasskey(tx.em, person.id, passkeyId))) throw new Failure("NOT_FOUND");
      await announceOwn(context, tx, own, "passkey.removed", passkeyId);
    } else {
      if (!(await deleteAuthenticator(tx.em, person.id))) throw new Failure("NOT_FOUND");
      await announceOwn(context, tx, own, "authenticator.removed", person.id);
    }
    await assertSignInMethodLeft(context, tx, session);
  });
  context.outbox.wake();
}

/** The app works only together with a mailed link, so it does not count without mail. */
async function assertSignInMethodLeft(
  context: MerchantContext,
  tx: MappedTx,
  { person, door }: SessionRow,
): Promise<void> {
  const passkeys = await passkeysOf(tx.em, person.id, openDoor(context, door).rpId);
  const app = context.canMail ? await findAuthenticator(tx.em, person.id) : null;
  if (passkeys.length === 0 && !app?.confirmedAt) throw new Failure("FORBIDDEN");
}

/** @param sessionId empty for all except the caller's @throws Failure UNAUTHORIZED, FORBIDDEN, NOT_FOUND */
export async function endSessions(context: MerchantContext, sessionSecret: string, sessionId: string): Promise<void> {
  const own = await findFullSession(context, sessionSecret);
  const personId = own.person.id;
  await context.db.transaction(async (tx) => {
    const open = await sessionsOf(tx.em, personId, clockNow());
    const ended = open.filter(({ id }) => (sessionId === "" ? id !== own.id : id === sessionId));
    if (sessionId !== "" && ended.length === 0) throw new Failure("NOT_FOUND");
    for (const { id, door } of ended) {
      if (await deleteSession(tx.em, id)) await announceOwn(context, tx, { personId, door }, "session.ended", id);
    }
  });
  context.outbox.wake();
}
