// The page of members and open invitations, of a merchant or of the installation. The merchant service checks every
// right.
import type { Door, Member, Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, type Problems, selectField, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { panel, problemBox, renderDetails } from "../../../view/operator-forms.ts";
import { invitationTable, memberName, memberTable, roleTable } from "../../../view/people.ts";

/** The people of one merchant or of the installation. */
export interface MembersScope {
  readonly door: Door;
  /** `mer_…`; empty: the installation. */
  readonly merchantId: string;
  /** Address of the page. */
  readonly path: string;
  readonly title: string;
  readonly mayWrite: boolean;
}

interface InvitationValues {
  readonly email: string;
  readonly role: string;
}

export async function membersPage(
  { peers }: ConsoleContext,
  visit: OperatorVisit,
  scope: MembersScope,
  problems: Problems,
  typed: InvitationValues = { email: "", role: "" },
): Promise<Page> {
  const texts = textsOf(visit.language).team;
  const { door, merchantId, path, mayWrite, title } = scope;
  const [{ members, invitations }, { roles, actions }] = await Promise.all([
    peers.people.listMembers({ sessionSecret: visit.secret, door, merchantId }),
    peers.people.listRoles({ door }),
  ]);
  const revoke = ({ id }: { readonly id: string }) => ({ action: `${path}/invitations/${id}/revoke`, fields: [] });
  const open = html`<h2>${texts.invitations}</h2>${invitationTable(visit, invitations, mayWrite ? revoke : undefined)}`;
  return {
    title,
    body: html`<h1>${title}</h1>${problemBox(visit, problems)}
${memberTable(visit, members)}
${mayWrite ? members.map((member) => changeForms(visit, path, member, roles)) : ""}
${invitations.length > 0 ? open : ""}
${mayWrite ? inviteForm(visit, path, roles, problems, typed) : ""}
${renderDetails(texts.rolesLink, roleTable(visit.language, roles, actions))}`,
  };
}

/** Forms that change a role or end a membership; each needs proof. */
function changeForms(visit: OperatorVisit, path: string, member: Member, roles: readonly Role[]): Html {
  const texts = textsOf(visit.language).team;
  const { person, role, refundLimit } = member;
  const id = person?.id ?? "";
  // Keeps the refund limit, which this form does not show.
  const limit = refundLimit
    ? [hidden("limit_amount", String(refundLimit.amount)), hidden("limit_currency", refundLimit.currency)]
    : [];
  const change = postForm(visit, {
    action: `${path}/${id}/role`,
    fields: [roleField(visit, `role-${id}`, roles, role), ...limit],
    button: texts.save,
    tone: "secondary",
  });
  const remove = postForm(visit, { action: `${path}/${id}/remove`, button: texts.remove, tone: "danger" });
  return renderDetails(
    fill(texts.changeFor, { name: memberName(member) }),
    html`${change}<hr><p>${texts.removeText} ${textsOf(visit.language).people.lastOwner}</p>${remove}`,
  );
}

function roleField({ language }: OperatorVisit, name: string, roles: readonly Role[], value: string): Html {
  const choices = roles.map((role) => ({ value: role.name, label: translateCode(language, "roles", role.name) }));
  const hint = textsOf(language).people.roleHint;
  return selectField({ name, label: textsOf(language).team.role, hint, value, choices });
}

function inviteForm(
  visit: OperatorVisit,
  path: string,
  roles: readonly Role[],
  problems: Problems,
  { email, role }: InvitationValues,
): Html {
  const texts = textsOf(visit.language).team;
  const field = textFields({ email }, problems);
  const form = postForm(visit, {
    action: `${path}/invite`,
    fields: [
      field("email", texts.email, { type: "email", maxlength: 254, required: true }),
      roleField(visit, "role", roles, role || (roles.at(-1)?.name ?? "")),
    ],
    button: texts.send,
  });
  return panel(texts.invite, form);
}
