// Accepts an invitation in ONE transaction under the team's lock. Deleting the invitation makes sure that it is
// accepted once. A signed-in person with the invited address joins with their session. A person who has a sign-in
// method must use it first: the link alone never signs them in.
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { isDuplicate, type Sql } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import { type Door, doorOfScope } from "../../rules/people/door.ts";
import { languageOf, nameViolations, normalName } from "../../rules/people/person.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findMerchant } from "../../store/merchants.ts";
import { deleteSessionsOf, type SessionRow } from "../../store/people/console-sessions.ts";
import { deleteInvitation, findInvitationByHash, type Invitation } from "../../store/people/invitations.ts";
import {
  findMembership,
  findMemberships,
  insertMembership,
  lockScope,
  rememberPerson,
} from "../../store/people/memberships.ts";
import {
  findPersonByEmail,
  findPersons,
  hasSignInMethod,
  insertPerson,
  lockPersonByEmail,
} from "../../store/people/persons.ts";
import { tokenHashes } from "../people/invite-member.ts";
import { inviterMayGive } from "../people/manage-people.ts";
import { asPerson, memberEvent } from "../people/people-events.ts";
import { type BrowserInfo, beginSession, findFullSession, findSession, viewSession } from "./session.ts";
import type { IssuedSession } from "./sign-in-by-passkey.ts";

interface Acceptance {
  readonly door: Door;
  readonly token: string;
  /** For a new person. */
  readonly name: string;
  readonly language: string;
  /** Empty without a session. */
  readonly sessionSecret: string;
  readonly browser: BrowserInfo;
}

interface OpenInvitation {
  readonly invitation: Invitation;
  readonly merchantName: string;
  readonly inviterName: string;
  /** Whether the invited person must sign in first. */
  readonly isKnown: boolean;
}

/** @throws Failure NOT_FOUND (expired or used) */
export async function readInvitation(context: MerchantContext, door: Door, token: string): Promise<OpenInvitation> {
  const em = context.db.em();
  const invitation = await findOpen(context, door, token);
  const { merchantId, inviterId } = invitation;
  const merchant = merchantId === "" ? undefined : await findMerchant(em, merchantId);
  const [inviter] = inviterId ? await findPersons(em, [inviterId]) : [];
  const person = await findPersonByEmail(em, invitation.email);
  const isKnown = person !== null && !(await mayBecome(context.db, em, person.id, invitation));
  return { invitation, merchantName: merchant?.name ?? "", inviterName: inviter?.name ?? "", isKnown };
}

/** @throws Failure NOT_FOUND, FORBIDDEN, UNAUTHORIZED, INVALID_BODY (field `name`) */
export async function acceptInvitation(
  context: MerchantContext,
  acceptance: Acceptance,
): Promise<IssuedSession & { merchantId: string }> {
  const { door, sessionSecret } = acceptance;
  const session = sessionSecret === "" ? undefined : await findFullSession(context, sessionSecret, door);
  const invitation = await findOpen(context, door, acceptance.token);
  if (session && session.person.email !== invitation.email) throw new Failure("FORBIDDEN");
  const join = () => context.db.transaction((tx) => joinTeam(context, tx, invitation, acceptance, session));
  // On a conflict another invitation of the same address created the person just now: retry with that person.
  const begun = await join().catch((error) =>
    isDuplicate(error, "persons_email_key") ? join() : Promise.reject(error),
  );
  context.outbox.wake();
  const secret = begun ?? sessionSecret;
  const view = await viewSession(context, await findSession(context, secret, door));
  return { secret: begun ?? "", view, merchantId: invitation.merchantId };
}

async function findOpen(context: MerchantContext, door: Door, token: string): Promise<Invitation> {
  const em = context.db.em();
  const found = await findInvitationByHash(em, tokenHashes(context, token));
  if (!found || found.expiresAt <= clockNow() || doorOfScope(found.merchantId) !== door) throw new Failure("NOT_FOUND");
  if (!(await inviterMayGive(em, found, found.role))) throw new Failure("NOT_FOUND");
  return found;
}

/** @returns the secret of a new session, or undefined if the person keeps their session */
async function joinTeam(
  context: MerchantContext,
  tx: MappedTx,
  invitation: Invitation,
  acceptance: Acceptance,
  session: SessionRow | undefined,
): Promise<string | undefined> {
  const { merchantId, role, refundAmount, refundCurrency, refundOthers } = invitation;
  await lockScope(tx, merchantId);
  if (!(await deleteInvitation(tx.em, invitation.id))) throw new Failure("NOT_FOUND");
  // Checked again under the lock: the inviter may have been removed or demoted since the first check.
  if (!(await inviterMayGive(tx.em, invitation, role))) throw new Failure("NOT_FOUND");
  const personId = session?.person.id ?? (await becomePerson(tx, invitation, acceptance));
  if (!(await findMembership(tx.em, personId, merchantId))) {
    const limit = { refundAmount, refundCurrency, refundOthers };
    await insertMembership(tx.em, { personId, merchantId, role, ...limit, joinedAt: clockNow() });
    await rememberPerson(tx, merchantId, personId);
    const joined = memberEvent("member.joined", merchantId, personId, { role, invitation: invitation.id });
    await asPerson(personId, () => context.outbox.append(tx, [joined]));
  }
  if (session) return undefined;
  const { door, browser } = acceptance;
  return (await beginSession(context, tx, { personId, door, isFull: false, isProved: false, browser })).secret;
}

/** Whether accepting proves the address: only its owner got the link, by mail or from an operator. */
function provesAddress({ byMailOnly, inviterId }: Invitation): boolean {
  return byMailOnly || inviterId == null;
}

/**
 * Whether the link's holder may act as a stored person, who must not have a sign-in method yet. If the inviter has seen
 * the link, all roles of that person must be in this team and within the inviter's right to grant.
 */
async function mayBecome(sql: Sql, em: SqlEntityManager, personId: string, invitation: Invitation): Promise<boolean> {
  if (await hasSignInMethod(sql, personId)) return false;
  if (provesAddress(invitation)) return true;
  for (const { merchantId, role } of await findMemberships(em, personId)) {
    if (merchantId !== invitation.merchantId || !(await inviterMayGive(em, invitation, role))) return false;
  }
  return true;
}

/** Creates the person, or uses the stored one of this address. @throws Failure FORBIDDEN, INVALID_BODY */
async function becomePerson(tx: MappedTx, invitation: Invitation, acceptance: Acceptance): Promise<string> {
  const { email } = invitation;
  const now = clockNow();
  const emailProvedAt = provesAddress(invitation) ? now : null;
  const known = await lockPersonByEmail(tx.em, email);
  if (known) {
    if (!(await mayBecome(tx, tx.em, known.id, invitation))) throw new Failure("FORBIDDEN");
    known.emailProvedAt ??= emailProvedAt;
    // A holder of an earlier link may have a session that could add a sign-in method.
    await deleteSessionsOf(tx.em, known.id);
    return known.id;
  }
  const name = normalName(acceptance.name);
  const violations = nameViolations(name);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const id = newId("person");
  const language = languageOf(acceptance.language);
  await insertPerson(tx.em, { id, email, emailProvedAt, name, language, createdAt: now, lastSeenAt: now });
  return id;
}
