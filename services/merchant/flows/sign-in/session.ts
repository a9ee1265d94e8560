// Console sessions: starts one, finds one by its secret, renews the secret and signs out. The database stores the
// secret's keyed hash. Expired sessions are refused here even before the sweep deletes them.
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import type { Door, OpenDoor } from "../../rules/people/door.ts";
import { isSessionOver, lifeMsMax, provedUntil, shouldRecordUse } from "../../rules/people/session.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { deleteAuthenticator } from "../../store/people/authenticators.ts";
import {
  deleteSession,
  deleteSessionsOf,
  fillSession,
  findSessionByHash,
  insertSession,
  recordSessionUse,
  type SessionRow,
} from "../../store/people/console-sessions.ts";
import { membershipsOf, type OwnMembership } from "../../store/people/memberships.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import { type Person, recordSeen } from "../../store/people/persons.ts";
import { notifyNewBrowser } from "../people/notify-people.ts";
import { announceOwn } from "../people/people-events.ts";

export interface BrowserInfo {
  readonly address: string;
  readonly agent: string;
}

export interface SessionView {
  readonly session: SessionRow;
  readonly memberships: readonly OwnMembership[];
  /** For this console. */
  readonly hasPasskey: boolean;
}

const secretForm = /^[A-Za-z0-9_-]{43}$/;
const secretBytes = 32;
/** The prefix separates sessions' hashes from those of other secrets. */
const hashInput = (secret: string) => `console-session:${secret}`;

/** @throws Failure FEATURE_DISABLED (the console has no origin) */
export function openDoor({ doors }: Pick<MerchantContext, "doors">, door: Door): OpenDoor {
  const open = doors.get(door);
  if (!open) throw new Failure("FEATURE_DISABLED");
  return open;
}

export async function beginSession(
  context: MerchantContext,
  tx: MappedTx,
  begun: {
    readonly personId: string;
    readonly door: Door;
    readonly isFull: boolean;
    readonly isProved: boolean;
    readonly browser: BrowserInfo;
  },
): Promise<{ id: string; secret: string }> {
  const { personId, door, isFull, isProved, browser } = begun;
  const secret = randomToken(secretBytes);
  const now = clockNow();
  const times = { createdAt: now, lastUsedAt: now, expiresAt: new Date(now.getTime() + lifeMsMax) };
  const session = { id: newId("consoleSession"), personId, door, isFull, codeFailures: 0, ...times, ...browser };
  await insertSession(tx.em, { ...session, provedAt: isProved ? now : null }, context.hashKeys.hash(hashInput(secret)));
  await recordSeen(tx, personId, now);
  await notifyNewBrowser(context, tx, { personId, door, ...browser });
  return { id: session.id, secret };
}

/**
 * @param door the required console; absent for any enabled one
 * @throws Failure UNAUTHORIZED (unknown, expired, or of another console)
 */
export async function findSession(
  { db, hashKeys, doors }: Pick<MerchantContext, "db" | "hashKeys" | "doors">,
  secret: string,
  door?: Door,
): Promise<SessionRow> {
  if (!secretForm.test(secret)) throw new Failure("UNAUTHORIZED");
  const found = await findSessionByHash(db, hashKeys.hashes(hashInput(secret)));
  if (!found || isSessionOver(found, clockNow()) || !doors.has(found.door)) throw new Failure("UNAUTHORIZED");
  if (door !== undefined && found.door !== door) throw new Failure("UNAUTHORIZED");
  return found;
}

/** A session that is not full may only add a sign-in method. @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function findFullSession(
  context: Pick<MerchantContext, "db" | "hashKeys" | "doors">,
  secret: string,
  door?: Door,
): Promise<SessionRow> {
  const session = await findSession(context, secret, door);
  if (!session.isFull) throw new Failure("FORBIDDEN");
  return session;
}

/** Reads the session for a page and records the use, to the minute. @throws Failure UNAUTHORIZED */
export async function useSession(context: MerchantContext, secret: string, door: Door): Promise<SessionView> {
  const session = await findSession(context, secret, door);
  const now = clockNow();
  if (shouldRecordUse(session, now)) {
    await recordSessionUse(context.db, session.id, now);
    await recordSeen(context.db, session.person.id, now);
  }
  return await viewSession(context, session);
}

/** A session holds no rights: its person's rights are read for each page. */
export async function viewSession(
  { db, doors }: Pick<MerchantContext, "db" | "doors">,
  session: SessionRow,
): Promise<SessionView> {
  const rpId = doors.get(session.door)?.rpId ?? "";
  const memberships = await membershipsOf(db, session.person.id, session.door);
  return { session, memberships, hasPasskey: session.passkeyHosts.includes(rpId) };
}

/** Makes the session full and proved, and invalidates the old secret. @returns the new secret */
export async function renewSession(
  { hashKeys }: Pick<MerchantContext, "hashKeys">,
  tx: MappedTx,
  sessionId: string,
): Promise<string> {
  const secret = randomToken(secretBytes);
  if (!(await fillSession(tx, sessionId, hashKeys.hash(hashInput(secret)), clockNow())))
    throw new Failure("UNAUTHORIZED");
  return secret;
}

/** For sensitive actions. @throws Failure FORBIDDEN (no proof within five minutes) */
export function assertProved({ provedAt }: Pick<SessionRow, "provedAt">): void {
  if (!provedUntil(provedAt, clockNow())) throw new Failure("FORBIDDEN");
}

/**
 * Marks the person's address as proved. Before this, a person without control of the address may have created these
 * sign-in methods and sessions by a link, so they end.
 * @param person locked by the caller
 */
export async function proveAddress(tx: MappedTx, person: Person): Promise<void> {
  if (person.emailProvedAt) return;
  await deletePasskeysOf(tx.em, person.id);
  await deleteAuthenticator(tx.em, person.id);
  await deleteSessionsOf(tx.em, person.id);
  person.emailProvedAt = clockNow();
}

/** An expired or unknown session is no error. */
export async function signOut(context: MerchantContext, secret: string): Promise<void> {
  const { db, hashKeys, outbox } = context;
  const found = await findSessionByHash(db, hashKeys.hashes(hashInput(secret)));
  if (!found) return;
  await db.transaction(async (tx) => {
    const personId = found.person.id;
    if (await deleteSession(tx.em, found.id)) {
      await announceOwn(context, tx, { personId, door: found.door }, "session.ended", found.id);
    }
  });
  outbox.wake();
}
