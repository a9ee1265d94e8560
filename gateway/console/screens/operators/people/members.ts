// The people of one place, of a merchant or of the installation: members and open invitations, and what whoever may
// write does about them. The merchant service looks at every right again, by the session's secret.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Door, Invitation, Member, Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, selectField, textField } from "../../../view/fields.ts";
import { type Problems, panel, postForm, problemBox, problemOf, renderDetails } from "../../../view/operator-forms.ts";
import { chip } from "../../../view/pieces.ts";
import { facts, table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";
import { rightsTable } from "./rights.ts";

/** Whose people, and where they stand. */
export interface MembersScope {
  readonly door: Door;
  /** `mer_…`; empty: the installation. */
  readonly merchantId: string;
  /** The address of the page. */
  readonly path: string;
  readonly title: string;
  readonly mayWrite: boolean;
}

/** What was typed into the form of an invitation. */
export interface InvitationValues {
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
  const texts = textsOf(visit.language).people;
  const { door, merchantId } = scope;
  const [{ members, invitations }, { roles, actions }] = await Promise.all([
    peers.people.listMembers({ sessionSecret: visit.secret, door, merchantId }),
    peers.people.listRoles({ door }),
  ]);
  return {
    title: scope.title,
    body: html`<h1>${scope.title}</h1>${problemBox(visit, problems)}
${memberTable(visit, members)}
${scope.mayWrite ? html`${members.map((member) => changeForms(visit, scope, member, roles))}` : ""}
${invitationTable(visit, scope, invitations)}
${scope.mayWrite ? inviteForm(visit, scope, roles, problems, typed) : ""}
${renderDetails(texts.rights, rightsTable(visit, roles, actions))}`,
  };
}

function memberTable(visit: OperatorVisit, members: readonly Member[]): Html {
  const { language } = visit;
  const texts = textsOf(language).people;
  const limit = { heading: texts.limit, cell: (member: Member) => limitOf(visit, member) };
  return table({
    caption: texts.person,
    rows: members,
    empty: texts.nobody,
    columns: [
      {
        heading: texts.person,
        cell: ({ person }) => html`<span><strong>${person?.name ?? ""}</strong><br>${person?.email ?? ""}</span>`,
      },
      { heading: texts.role, cell: ({ role }) => translateCode(language, "roles", role) },
      ...(members.some(({ refundLimit }) => refundLimit) ? [limit] : []),
      { heading: texts.waysIn, cell: (member) => formatMethods(visit, member) },
      { heading: texts.joined, cell: ({ joinedAt }) => moment(language, joinedAt) },
      { heading: texts.seen, cell: ({ lastSeenAt }) => moment(language, lastSeenAt) || texts.never },
    ],
  });
}

function limitOf({ language }: OperatorVisit, { refundLimit }: Pick<Member, "refundLimit">): string {
  return refundLimit ? money(language, refundLimit.amount, refundLimit.currency) : "";
}

function formatMethods({ language }: OperatorVisit, { hasPasskey, hasAuthenticator }: Member): string {
  const texts = textsOf(language).people;
  const methods = [hasPasskey ? texts.passkey : "", hasAuthenticator ? texts.authenticator : ""].filter(
    (method) => method !== "",
  );
  return methods.length === 0 ? texts.noWayIn : methods.join(", ");
}

/** A role's choice, and the end of the membership; each asks for a proof. */
function changeForms(
  visit: OperatorVisit,
  { path }: MembersScope,
  { person, role, refundLimit }: Member,
  roles: readonly Role[],
) {
  const texts = textsOf(visit.language).people;
  const id = person?.id ?? "";
  const name = person?.name || person?.email || id;
  // What the form does not show stays as it is.
  const limit = refundLimit
    ? [hidden("limit_amount", String(refundLimit.amount)), hidden("limit_currency", refundLimit.currency)]
    : [];
  const change = postForm(visit, {
    action: `${path}/${id}/role`,
    fields: [roleField(visit, `role-${id}`, roles, role), ...limit],
    button: texts.saveRole,
    tone: "secondary",
  });
  const remove = postForm(visit, { action: `${path}/${id}/remove`, fields: [], button: texts.remove, tone: "danger" });
  const facts2 = facts([[texts.email, person?.email ?? ""]]);
  return renderDetails(
    fill(texts.changeOf, { name }),
    html`${facts2}${change}<hr><p>${texts.removeText} ${texts.lastOwner}</p>${remove}`,
  );
}

function roleField({ language }: OperatorVisit, name: string, roles: readonly Role[], value: string): Html {
  const texts = textsOf(language).people;
  const choices = roles.map((role) => ({ value: role.name, label: translateCode(language, "roles", role.name) }));
  return selectField({ name, label: texts.role, hint: texts.roleHint, value, choices });
}

function invitationTable(visit: OperatorVisit, { path, mayWrite }: MembersScope, invitations: readonly Invitation[]) {
  const { language } = visit;
  const texts = textsOf(language).people;
  if (invitations.length === 0) return "";
  const isOver = ({ expiresAt }: Invitation) =>
    expiresAt !== undefined && timestampDate(expiresAt).getTime() < Date.now();
  const revoke = ({ id, email }: Invitation) =>
    postForm(visit, {
      action: `${path}/invitations/${id}/revoke`,
      fields: [],
      button: texts.revoke,
      tone: "secondary",
      label: `${texts.revoke}: ${email}`,
      isInline: true,
    });
  const list = table({
    caption: texts.invitations,
    rows: invitations,
    empty: "",
    columns: [
      { heading: texts.email, cell: ({ email }) => email },
      { heading: texts.role, cell: ({ role }) => translateCode(language, "roles", role) },
      { heading: texts.invitedBy, cell: ({ inviterName }) => inviterName || texts.byCommand },
      {
        heading: texts.until,
        cell: (each) => (isOver(each) ? chip(texts.over, "wait") : moment(language, each.expiresAt)),
      },
      ...(mayWrite ? [{ heading: texts.change, cell: revoke }] : []),
    ],
  });
  return html`<h2>${texts.invitations}</h2>${list}`;
}

function inviteForm(
  visit: OperatorVisit,
  { path }: MembersScope,
  roles: readonly Role[],
  problems: Problems,
  typed: InvitationValues,
): Html {
  const texts = textsOf(visit.language).people;
  const email = textField({
    name: "email",
    label: texts.email,
    type: "email",
    value: typed.email,
    maxlength: 254,
    required: true,
    problem: problemOf(problems, "email"),
  });
  const form = postForm(visit, {
    action: `${path}/invite`,
    fields: [email, roleField(visit, "role", roles, typed.role || (roles.at(-1)?.name ?? ""))],
    button: texts.sendInvitation,
  });
  return panel(texts.invite, form);
}
