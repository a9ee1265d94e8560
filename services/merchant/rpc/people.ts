// merchant.v1.PeopleService.
import type { ServiceImpl } from "@connectrpc/connect";
import type { PeopleService, Door as WireDoor } from "#proto/merchant/v1/people_pb.ts";
import type { MerchantContext } from "../context.ts";
import { removeMember, resetAccess, revokeInvitation, updateMember } from "../flows/people/change-member.ts";
import { inviteMember } from "../flows/people/invite-member.ts";
import { listNames, listPeople } from "../flows/people/list-people.ts";
import type { TeamScope } from "../flows/people/manage-people.ts";
import {
  chooseNotifications,
  endNotification,
  forgetView,
  readNotifications,
  readViews,
  saveView,
} from "../flows/people/own-choices.ts";
import { fromDoor, toInvitation, toMember, toPerson } from "../messages.ts";
import { rightsOf } from "../rules/people/roles.ts";

export function peopleRpc(context: MerchantContext): ServiceImpl<typeof PeopleService> {
  return {
    listRoles({ door }) {
      const { roles, actions } = rightsOf(fromDoor(door));
      return { roles: roles.map((role) => ({ ...role, actions: [...role.actions] })), actions: [...actions] };
    },
    async listMembers(request) {
      const { members, invitations } = await listPeople(context, fromScope(request));
      return {
        members: members.map(toMember),
        invitations: invitations.map(({ invitation, inviterName }) => toInvitation(invitation, inviterName)),
      };
    },
    async inviteMember({ email, role, refundLimit, language, ...request }) {
      const input = { email, role, refundLimit, language };
      const { invitation, inviterName, ...rest } = await inviteMember(context, fromScope(request), input);
      return { invitation: toInvitation(invitation, inviterName), ...rest };
    },
    async revokeInvitation({ invitationId, ...request }) {
      await revokeInvitation(context, fromScope(request), invitationId);
      return {};
    },
    async updateMember({ personId, role, refundLimit, ...request }) {
      return { member: toMember(await updateMember(context, fromScope(request), personId, { role, refundLimit })) };
    },
    async removeMember({ personId, ...request }) {
      await removeMember(context, fromScope(request), personId);
      return {};
    },
    async resetAccess({ personId, ...request }) {
      await resetAccess(context, { ...request, door: fromDoor(request.door), sessionSecret: "" }, personId);
      return {};
    },
    async listNames({ personIds, ...request }) {
      return { people: (await listNames(context, fromScope(request), personIds)).map(toPerson) };
    },
    async getNotifications(scope) {
      return { kinds: await readNotifications(context, scope), isPossible: context.canMail };
    },
    async updateNotifications({ kinds, ...scope }) {
      return { kinds: await chooseNotifications(context, scope, kinds) };
    },
    async endNotification({ token }) {
      return await endNotification(context, token);
    },
    async listSavedViews({ list, ...scope }) {
      const views = await readViews(context, scope, list);
      return { views: views.map(({ list, name, query }) => ({ list, name, query })) };
    },
    async saveView({ view, ...scope }) {
      if (view) await saveView(context, scope, view);
      return {};
    },
    async deleteView({ list, name, ...scope }) {
      await forgetView(context, scope, { list, name });
      return {};
    },
  };
}

interface ScopeMessage {
  readonly sessionSecret: string;
  readonly door: WireDoor;
  readonly merchantId: string;
}

function fromScope({ sessionSecret, door, merchantId }: ScopeMessage): TeamScope {
  return { sessionSecret, door: fromDoor(door), merchantId };
}
