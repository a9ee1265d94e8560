// Sessions of the consoles: begins one, finds one by its secret, gives one a new secret once it is full, and ends one.
// Only the secret's keyed hash is stored. A session opens nothing without this file's rules, swept away or not.
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { randomToken } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import type { Door, OpenDoor } from "../../rules/people/door.ts";
import { isSessionOver, lifeMsMax, provedUntil, shouldRecordUse } from "../../rules/people/session.ts";
import {
  deleteSession,
  fillSession,
  findSessionByHash,
  insertSession,
  recordSessionUse,
  type SessionRow,
} from "../../store/people/console-sessions.ts";
import { membershipsOf, type OwnMembership } from "../../store/people/memberships.ts";
import { recordSeen } from "../../store/people/persons.ts";
import { notifyNewBrowser } from "../people/notify-person.ts";
import { announceOwn } from "../people/people-events.ts";

export interface BrowserInfo {
  readonly address: string;
  readonly agent: string;
}

/** A session with all that its person may do. */
export interface SessionView {
  readonly session: SessionRow;
  readonly memberships: readonly OwnMembership[];
  /** At this session's door. */
  readonly hasPasskey: boolean;
}

const secretForm = /^[A-Za-z0-9_-]{43}$/;
const secretBytes = 32;
/** So that no hash of another kind of secret is ever one of a session. */
const hashed = (secret: string) => `console-session:${secret}`;

/** @throws Failure FEATURE_DISABLED: the door has no origin */
export function openDoor({ doors }: Pick<MerchantContext, "doors">, door: Door): OpenDoor {
  const open = doors.get(door);
  if (!open) throw new Failure("FEATURE_DISABLED");
  return open;
}

/** @returns the secret, which nobody can read again */
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
  await insertSession(tx.em, { ...session, provedAt: isProved ? now : null }, context.hashKeys.hash(hashed(secret)));
  await recordSeen(tx, personId, now);
  await notifyNewBrowser(context, tx, { personId, door, ...browser });
  return { id: session.id, secret };
}

/**
 * The session with this secret.
 * @param door which it must be of; absent: any that is open
 * @throws Failure UNAUTHORIZED: unknown, over, or of another door
 */
export async function findSession(
  { db, hashKeys, doors }: Pick<MerchantContext, "db" | "hashKeys" | "doors">,
  secret: string,
  door?: Door,
): Promise<SessionRow> {
  if (!secretForm.test(secret)) throw new Failure("UNAUTHORIZED");
  const found = await findSessionByHash(db, hashKeys.hashes(hashed(secret)));
  if (!found || isSessionOver(found, clockNow()) || !doors.has(found.door)) throw new Failure("UNAUTHORIZED");
  if (door !== undefined && found.door !== door) throw new Failure("UNAUTHORIZED");
  return found;
}

/** The same, which may do more than to add a way to sign in. @throws Failure UNAUTHORIZED, FORBIDDEN */
export async function findFullSession(
  context: Pick<MerchantContext, "db" | "hashKeys" | "doors">,
  secret: string,
  door?: Door,
): Promise<SessionRow> {
  const session = await findSession(context, secret, door);
  if (!session.isFull) throw new Failure("FORBIDDEN");
  return session;
}

/** A page's look at its session: it counts as a use, kept to the minute. @throws Failure UNAUTHORIZED */
export async function useSession(context: MerchantContext, secret: string, door: Door): Promise<SessionView> {
  const session = await findSession(context, secret, door);
  const now = clockNow();
  if (shouldRecordUse(session, now)) {
    await recordSessionUse(context.db, session.id, now);
    await recordSeen(context.db, session.person.id, now);
  }
  return await viewSession(context, session);
}

/** A new session has no right of its own yet: what its person may do is looked up with each page. */
export async function viewSession(
  { db, doors }: Pick<MerchantContext, "db" | "doors">,
  session: SessionRow,
): Promise<SessionView> {
  const rpId = doors.get(session.door)?.rpId ?? "";
  const memberships = await membershipsOf(db, session.person.id, session.door);
  return { session, memberships, hasPasskey: session.passkeyHosts.includes(rpId) };
}

/** Makes the session full and proved under a new secret: whoever knew the old one has nothing. @returns the new one */
export async function renewSession(
  { hashKeys }: Pick<MerchantContext, "hashKeys">,
  tx: MappedTx,
  sessionId: string,
): Promise<string> {
  const secret = randomToken(secretBytes);
  if (!(await fillSession(tx, sessionId, hashKeys.hash(hashed(secret)), clockNow()))) throw new Failure("UNAUTHORIZED");
  return secret;
}

/** Grave acts need it. @throws Failure FORBIDDEN: there is no proof within five minutes */
export function assertProved({ provedAt }: Pick<SessionRow, "provedAt">): void {
  if (!provedUntil(provedAt, clockNow())) throw new Failure("FORBIDDEN");
}

/** Ends the session; one that is over or unknown stays so. */
export async function signOut(context: MerchantContext, secret: string): Promise<void> {
  const { db, hashKeys, outbox } = context;
  const found = await findSessionByHash(db, hashKeys.hashes(hashed(secret)));
  if (!found) return;
  await db.transaction(async (tx) => {
    const personId = found.person.id;
    if (await deleteSession(tx.em, found.id)) {
      await announceOwn(context, tx, { personId, door: found.door }, "session.ended", found.id);
    }
  });
  outbox.wake();
}
