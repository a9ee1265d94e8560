// Lists a team's members and invitations, and the names of people in its logs.
import type { MerchantContext } from "../../context.ts";
import { rightsOf } from "../../rules/people/roles.ts";
import type { SessionPerson } from "../../store/people/console-sessions.ts";
import { type Invitation, listInvitations } from "../../store/people/invitations.ts";
import { knownPeople, type MemberRow, membersOf } from "../../store/people/memberships.ts";
import { findPersons } from "../../store/people/persons.ts";
import { openInvitationsMax } from "./invite-member.ts";
import { readTeam, type TeamScope } from "./manage-people.ts";

/** Members by role and name; invitations newest first. @throws Failure UNAUTHORIZED, NOT_FOUND, FORBIDDEN */
export async function listPeople(
  context: MerchantContext,
  scope: TeamScope,
): Promise<{ members: MemberRow[]; invitations: { invitation: Invitation; inviterName: string }[] }> {
  return await readTeam(context, scope, "team.read", async (em) => {
    const order = rightsOf(scope.door).roles.map(({ name }) => name);
    const members = await membersOf(context.db, scope.merchantId);
    const invitations = await listInvitations(em, scope.merchantId, openInvitationsMax);
    const inviters = await findPersons(em, [...new Set(invitations.flatMap(({ inviterId }) => inviterId ?? []))]);
    const names = new Map(inviters.map(({ id, name }) => [id, name]));
    return {
      members: members.toSorted((a, b) => order.indexOf(a.role) - order.indexOf(b.role)),
      invitations: invitations.map((invitation) => ({
        invitation,
        inviterName: names.get(invitation.inviterId ?? "") ?? "",
      })),
    };
  });
}

/** Current and former members. @throws Failure UNAUTHORIZED, NOT_FOUND */
export async function listNames(
  context: MerchantContext,
  scope: TeamScope,
  personIds: readonly string[],
): Promise<SessionPerson[]> {
  return await readTeam(context, scope, undefined, () => knownPeople(context.db, scope.merchantId, personIds));
}
