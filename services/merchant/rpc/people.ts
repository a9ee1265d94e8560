// merchant.v1.PeopleService: every method in its order; what stands behind each is in flows/people/.
import type { ServiceImpl } from "@connectrpc/connect";
import type { PeopleService } from "#proto/merchant/v1/people_pb.ts";
import type { MerchantContext } from "../context.ts";
import { inviteMember } from "../flows/people/invite-member.ts";
import { fromDoor, toInvitation } from "../people-messages.ts";
import { rightsOf } from "../rules/people/roles.ts";

export function peopleRpc(context: MerchantContext): Partial<ServiceImpl<typeof PeopleService>> {
  return {
    listRoles({ door }) {
      const { roles, actions } = rightsOf(fromDoor(door));
      return { roles: roles.map((role) => ({ ...role, actions: [...role.actions] })), actions: [...actions] };
    },
    async inviteMember({ sessionSecret, door, merchantId, email, role, refundLimit }) {
      const place = { sessionSecret, door: fromDoor(door), merchantId };
      const { invitation, inviterName, link } = await inviteMember(context, place, { email, role, refundLimit });
      return { invitation: toInvitation(invitation, inviterName), link, isMailed: false };
    },
  };
}
