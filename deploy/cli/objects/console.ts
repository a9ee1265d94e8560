// `tollbooth console …`: the members of the consoles. The first owner signs up with the link that `invite` prints.
import { Door, type Invitation, type Member } from "#proto/merchant/v1/people_pb.ts";
import { type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeText } from "../wire.ts";

const ownerOptions = {
  merchant: { value: "mer_…", about: "whose people" },
  operators: { about: "members of the operators' console" },
} as const;

export const consolePeople: Commands = {
  invite: {
    about: "invites an address; shows the link once, and mails it if mail is configured",
    args: ["email"],
    options: {
      ...ownerOptions,
      role: { value: "role", about: "default: `owner`" },
      language: { value: "en|de", about: "language of the mail; default: en" },
    },
    run: async (peers, input) => {
      const answer = await peers.people.inviteMember({
        ...ownerOf(input),
        email: input.arg("email"),
        role: input.text("role") || "owner",
        language: input.text("language"),
      });
      const row = answer.invitation ? invitationRow(answer.invitation) : {};
      const mailRemark = answer.isMailed
        ? "It will also be mailed."
        : "Mail is not configured: send the link over a secure channel.";
      return { rows: [{ ...row, link: answer.link }], remark: `The link works once, within seven days. ${mailRemark}` };
    },
  },
  members: {
    about: "lists members and open invitations",
    options: ownerOptions,
    run: async (peers, input) => {
      const { members, invitations } = await peers.people.listMembers(ownerOf(input));
      return { rows: [...members.map(memberRow), ...invitations.map(invitationRow)] };
    },
  },
  reset: {
    about:
      "removes all sign-in methods of a member whose devices are lost or stolen, and prints a link to set up new ones",
    args: ["email"],
    options: ownerOptions,
    run: async (peers, input) => {
      const where = ownerOf(input);
      const email = input.arg("email").trim().toLowerCase();
      const { members } = await peers.people.listMembers(where);
      const member = members.find(({ person }) => person?.email === email);
      if (!member?.person) throw new UsageError("no member has this address");
      await peers.people.resetAccess({ ...where, personId: member.person.id });
      const { link } = await peers.people.inviteMember({ ...where, email, role: member.role });
      const row = { ...memberRow(member), signs_in_by: [], link };
      return { rows: [row], remark: "The link signs in as this person: send it to no one else. It works once." };
    },
  },
  remove: {
    about: "removes a member, including the last owner, or revokes an invitation",
    args: ["email"],
    options: ownerOptions,
    run: async (peers, input) => {
      const where = ownerOf(input);
      const row = await removeByEmail(peers, where, input.arg("email").trim().toLowerCase());
      if (!row) throw new UsageError("no member or invitation has this address");
      return { rows: [row] };
    },
  },
};

interface PeopleOwner {
  readonly door: Door;
  readonly merchantId: string;
}

function ownerOf(input: CommandInput): PeopleOwner {
  const merchantId = input.text("merchant");
  if ((merchantId !== "") === input.has("operators")) throw new UsageError("either --merchant mer_… or --operators");
  return { door: merchantId === "" ? Door.OPERATORS : Door.MERCHANTS, merchantId };
}

async function removeByEmail({ people }: OperatorPeers, where: PeopleOwner, email: string): Promise<Row | undefined> {
  const { members, invitations } = await people.listMembers(where);
  const member = members.find(({ person }) => person?.email === email);
  if (member?.person) {
    await people.removeMember({ ...where, personId: member.person.id });
    return { ...memberRow(member), status: "removed" };
  }
  const invitation = invitations.find((one) => one.email === email);
  if (!invitation) return undefined;
  await people.revokeInvitation({ ...where, invitationId: invitation.id });
  return { ...invitationRow(invitation), status: "taken back" };
}

function memberRow({ person, role, joinedAt, lastSeenAt, hasPasskey, hasAuthenticator }: Member): Row {
  const methods = [hasPasskey ? "passkey" : "", hasAuthenticator ? "authenticator" : ""].filter(
    (method) => method !== "",
  );
  const who = { id: person?.id ?? "", email: person?.email ?? "", name: person?.name ?? "", role, status: "member" };
  return { ...who, signs_in_by: methods, since: timeText(joinedAt), last_seen: timeText(lastSeenAt) };
}

function invitationRow({ id, email, role, inviterName, expiresAt }: Invitation): Row {
  const by = inviterName || "an operator";
  return { id, email, name: "", role, status: `invited by ${by} until ${timeText(expiresAt)}` };
}
