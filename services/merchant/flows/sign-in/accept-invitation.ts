// Accepts an invitation: ONE transaction under the lock of its place, which removes the invitation, so that however
// many accept it at once, one does. A person who is signed in with the invited address joins with that session. Nobody
// becomes a person who can sign in already: they sign in first.
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { isDuplicate, type Sql } from "#platform/database/database.ts";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import { type Door, doorOfScope } from "../../rules/people/door.ts";
import { languageOf, nameViolations, normalName } from "../../rules/people/person.ts";
import { findMerchant } from "../../store/merchants.ts";
import { deleteSessionsOf, type SessionRow } from "../../store/people/console-sessions.ts";
import { deleteInvitation, findInvitationByHash, type Invitation } from "../../store/people/invitations.ts";
import { rememberPerson } from "../../store/people/known-people.ts";
import { findMembership, findMemberships, insertMembership, lockScope } from "../../store/people/memberships.ts";
import { findPersonByEmail, findPersons, insertPerson, lockPersonByEmail } from "../../store/people/persons.ts";
import { hasSignInMethod } from "../../store/people/sign-in-methods.ts";
import { tokenHashes } from "../people/invite-member.ts";
import { inviterMayGive } from "../people/manage-people.ts";
import { asPerson, memberEvent } from "../people/people-events.ts";
import { type BrowserInfo, beginSession, findFullSession, findSession, viewSession } from "./session.ts";
import type { IssuedSession } from "./sign-in-by-passkey.ts";

export interface Acceptance {
  readonly door: Door;
  readonly token: string;
  /** Of a new person. */
  readonly name: string;
  readonly language: string;
  /** Empty: nobody is signed in. */
  readonly sessionSecret: string;
  readonly browser: BrowserInfo;
}

/** What an invitation offers. */
export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly merchantName: string;
  readonly inviterName: string;
  /** The address is a person's who signs in first. */
  readonly isKnown: boolean;
}

/** @throws Failure NOT_FOUND: it does not work any more */
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
  // Another invitation of the same address made the person at the same moment: now there is one.
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

/** @returns the secret of the session that begins; undefined: the person goes on with theirs */
async function joinTeam(
  context: MerchantContext,
  tx: MappedTx,
  invitation: Invitation,
  acceptance: Acceptance,
  session: SessionRow | undefined,
): Promise<string | undefined> {
  const { merchantId, role, refundAmount, refundCurrency } = invitation;
  await lockScope(tx, merchantId);
  if (!(await deleteInvitation(tx.em, invitation.id))) throw new Failure("NOT_FOUND");
  // Under the lock: the inviter may have been removed or demoted since the invitation was found.
  if (!(await inviterMayGive(tx.em, invitation, role))) throw new Failure("NOT_FOUND");
  const personId = session?.person.id ?? (await becomePerson(tx, invitation, acceptance));
  if (!(await findMembership(tx.em, personId, merchantId))) {
    const limit = { refundAmount, refundCurrency };
    await insertMembership(tx.em, { personId, merchantId, role, ...limit, joinedAt: clockNow() });
    await rememberPerson(tx, merchantId, personId);
    const joined = memberEvent("member.joined", merchantId, personId, { role, invitation: invitation.id });
    await asPerson(personId, () => context.outbox.append(tx, [joined]));
  }
  if (session) return undefined;
  const { door, browser } = acceptance;
  return (await beginSession(context, tx, { personId, door, isFull: false, isProved: false, browser })).secret;
}

/** The link went to the address and nowhere else, or an operator handed it to whom the address is of. */
function isVouchedFor({ byMailOnly, inviterId }: Invitation): boolean {
  return byMailOnly || inviterId == null;
}

/**
 * True when the link's holder may become the person: nobody can sign in as them yet. A link that its inviter has seen
 * makes only a person to whom the inviter could give every role they have, and who has none elsewhere.
 */
async function mayBecome(sql: Sql, em: SqlEntityManager, personId: string, invitation: Invitation): Promise<boolean> {
  if (await hasSignInMethod(sql, personId)) return false;
  if (isVouchedFor(invitation)) return true;
  for (const { merchantId, role } of await findMemberships(em, personId)) {
    if (merchantId !== invitation.merchantId || !(await inviterMayGive(em, invitation, role))) return false;
  }
  return true;
}

/** A new person, or one of this address whom nobody can sign in as yet. @throws Failure FORBIDDEN, INVALID_BODY */
async function becomePerson(tx: MappedTx, invitation: Invitation, acceptance: Acceptance): Promise<string> {
  const { email } = invitation;
  const now = clockNow();
  const emailProvedAt = isVouchedFor(invitation) ? now : null;
  const known = await lockPersonByEmail(tx.em, email);
  if (known) {
    if (!(await mayBecome(tx, tx.em, known.id, invitation))) throw new Failure("FORBIDDEN");
    known.emailProvedAt ??= emailProvedAt;
    // Whoever had the former link has a session that could still add a way in.
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
