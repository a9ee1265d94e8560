// Changes a team's members: role, removal, access reset, and revoked invitations. Each is ONE transaction under the
// team's lock, so the last owner stays even if several changes run at once.
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { kindsFor } from "../../rules/people/notifications.ts";
import { roleNamed } from "../../rules/people/roles.ts";
import { withdrawMails, withdrawMailsOf } from "../../store/mails.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { deleteAuthenticator } from "../../store/people/authenticators.ts";
import { deleteSessionsOf } from "../../store/people/console-sessions.ts";
import { deleteInvitation, findInvitation } from "../../store/people/invitations.ts";
import {
  countInRole,
  deleteMembership,
  findMembership,
  findMemberships,
  type MemberRow,
  type Membership,
  membersOf,
} from "../../store/people/memberships.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import { hasSignInMethod, lockPerson } from "../../store/people/persons.ts";
import { deleteLinksOf } from "../../store/sign-in/provider-links.ts";
import { limitColumns, type RefundLimit, readRole } from "./invite-member.ts";
import { type Manager, manageTeam, type TeamScope } from "./manage-people.ts";
import { memberEvent } from "./people-events.ts";

/** @throws Failure NOT_FOUND, FORBIDDEN, INVALID_BODY, UNAUTHORIZED */
export async function updateMember(
  context: MerchantContext,
  scope: TeamScope,
  personId: string,
  input: { readonly role: string; readonly refundLimit: RefundLimit | undefined },
): Promise<MemberRow> {
  const { merchantId } = scope;
  const role = readRole(scope.door, input);
  const member = await manageTeam(context, scope, "team.write", async (tx, manager) => {
    const membership = await lockMember(tx, scope, personId, manager);
    if (!manager.mayGive(role.name)) throw new Failure("FORBIDDEN");
    const before = { role: membership.role, limit: limitText(membership) };
    if (!role.isOwner) await assertOwnerLeft(tx, scope, membership, manager);
    tx.em.assign(membership, { role: role.name, ...limitColumns(input.refundLimit) });
    await tx.em.flush();
    // A person without a sign-in method has only the session of their invitation. A thief of that invitation could
    // otherwise add a passkey and gain the new role.
    await lockPerson(tx.em, personId);
    if (!(await hasSignInMethod(tx, personId))) await deleteSessionsOf(tx.em, personId);
    await withdrawMailsOf(tx, { personId, merchantId }, kindsFor(role.name));
    const limit = limitText(membership);
    if (before.role !== role.name || before.limit !== limit) {
      const attributes = { role: role.name, role_before: before.role, refund_limit: limit };
      await context.outbox.append(tx, [memberEvent("member.changed", merchantId, personId, attributes)]);
    }
    const [changed] = await membersOf(tx, merchantId, personId);
    if (!changed) throw new Failure("NOT_FOUND");
    return changed;
  });
  context.outbox.wake();
  return member;
}

/**
 * A person who was removed from all teams keeps no sign-in method.
 * @throws Failure NOT_FOUND, FORBIDDEN, UNAUTHORIZED
 */
export async function removeMember(context: MerchantContext, scope: TeamScope, personId: string): Promise<void> {
  await manageTeam(context, scope, "team.write", async (tx, manager) => {
    const membership = await lockMember(tx, scope, personId, manager);
    await assertOwnerLeft(tx, scope, membership, manager);
    await deleteMembership(tx.em, personId, scope.merchantId);
    await withdrawMailsOf(tx, { personId, merchantId: scope.merchantId }, []);
    // A later invitation must not ask for a device that was lost, or that another person added.
    await lockPerson(tx.em, personId);
    if ((await findMemberships(tx.em, personId)).length === 0) await deleteSignInMethods(tx, personId);
    const removed = memberEvent("member.removed", scope.merchantId, personId, { role: membership.role });
    await context.outbox.append(tx, [removed]);
  });
  context.outbox.wake();
}

/**
 * Removes all sign-in methods of a member who lost them. Roles stay; a new invitation gives access again. Only an
 * operator by command may do this, never a console session.
 * @throws Failure NOT_FOUND (no such member), UNAUTHORIZED (no operator)
 */
export async function resetAccess(context: MerchantContext, scope: TeamScope, personId: string): Promise<void> {
  await manageTeam(context, scope, "team.write", async (tx) => {
    const person = await lockPerson(tx.em, personId);
    if (!person || !(await findMembership(tx.em, personId, scope.merchantId))) throw new Failure("NOT_FOUND");
    await deleteSignInMethods(tx, personId);
    await context.outbox.append(tx, [memberEvent("member.access_reset", scope.merchantId, personId, {})]);
  });
  context.outbox.wake();
}

/** @throws Failure NOT_FOUND, FORBIDDEN, UNAUTHORIZED */
export async function revokeInvitation(
  context: MerchantContext,
  scope: TeamScope,
  invitationId: string,
): Promise<void> {
  await manageTeam(context, scope, "team.write", async (tx, manager) => {
    const invitation = requireFound(await findInvitation(tx.em, scope.merchantId, invitationId));
    if (!manager.mayGive(invitation.role)) throw new Failure("FORBIDDEN");
    await deleteInvitation(tx.em, invitationId);
    await withdrawMails(tx, "invitation", invitationId);
    const { email, role } = invitation;
    const event = memberEvent("member.invitation_revoked", scope.merchantId, invitationId, { email, role });
    await context.outbox.append(tx, [event]);
  });
  context.outbox.wake();
}

async function deleteSignInMethods(tx: MappedTx, personId: string): Promise<void> {
  await deletePasskeysOf(tx.em, personId);
  await deleteAuthenticator(tx.em, personId);
  await deleteLinksOf(tx, personId);
  await deleteSessionsOf(tx.em, personId);
}

/** A manager who may not grant a role may not remove it either. */
async function lockMember(
  tx: MappedTx,
  { merchantId }: TeamScope,
  personId: string,
  manager: Manager,
): Promise<Membership> {
  const membership = requireFound(await findMembership(tx.em, personId, merchantId));
  if (!manager.mayGive(membership.role)) throw new Failure("FORBIDDEN");
  return membership;
}

/** An operator by command may remove the last owner, since they can invite another one. */
async function assertOwnerLeft(
  tx: MappedTx,
  { door, merchantId }: TeamScope,
  membership: Membership,
  manager: Manager,
) {
  if (manager.personId === undefined || !roleNamed(door, membership.role)?.isOwner) return;
  if ((await countInRole(tx.em, merchantId, membership.role)) <= 1) throw new Failure("FORBIDDEN");
}

function limitText({ refundAmount, refundCurrency, refundOthers }: Membership): string {
  if (refundAmount == null) return "";
  const others = Object.entries(refundOthers).map(([currency, amount]) => `, ${amount} ${currency}`);
  return `${refundAmount} ${refundCurrency}${others.sort().join("")}`;
}
