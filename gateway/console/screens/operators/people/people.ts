// The people of a merchant and of the installation, on the same page. Each change needs fresh proof, and the merchant
// service checks every right.
import { Failure } from "#platform/values/failure.ts";
import { Door, type Member, type Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { type Problems, selectField, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { formPanel, noProblems, problemBox, renderDetails, showRefusal } from "../../../view/operator-forms.ts";
import { invitationTable, invitedPage, memberName, memberTable, roleTable } from "../../../view/people.ts";

type FindScope = (visit: OperatorVisit) => Promise<MembersScope>;

export function peopleRoutes(context: ConsoleContext): void {
  const ofInstallation: FindScope = async (visit) => ({
    door: Door.OPERATORS,
    merchantId: "",
    path: "/team",
    title: textsOf(visit.language).people.team,
    mayWrite: visit.may("team.write"),
  });
  const ofMerchant: FindScope = async (visit) => {
    const { merchant } = await context.peers.merchants.getMerchant({ merchantId: paramOf(visit, "merchantId") });
    if (!merchant) throw new Failure("NOT_FOUND");
    const [merchantId, path] = [merchant.id, `/merchants/${merchant.id}/people`];
    const title = fillText(textsOf(visit.language).people.peopleOf, { name: merchant.name });
    return { door: Door.MERCHANTS, merchantId, path, title, mayWrite: visit.may("merchants.write") };
  };
  addScopeRoutes(context, "/team", "team", ofInstallation);
  addScopeRoutes(context, "/merchants/:merchantId/people", "merchants", ofMerchant);
}

/** @param right prefix of the rights `.read` and `.write` */
function addScopeRoutes(context: ConsoleContext, path: string, right: string, find: FindScope): void {
  const { people } = context.peers;
  const needs = { action: `${right}.write`, proof: () => true };
  operatorPage(context, path, `${right}.read`, async (visit) => {
    return await membersPage(context, visit, await find(visit), noProblems);
  });
  operatorForm(context, `${path}/invite`, needs, async (visit, form) =>
    invite(context, visit, await find(visit), form),
  );
  operatorForm(context, `${path}/:personId/role`, needs, async (visit, form) => {
    const scope = await find(visit);
    const { door, merchantId } = scope;
    const personId = paramOf(visit, "personId");
    const role = form.text(`role-${personId}`);
    const change = async () => {
      const [{ roles }, { members }] = await Promise.all([
        people.listRoles({ door }),
        people.listMembers({ sessionSecret: visit.secret, door, merchantId }),
      ]);
      // The form does not show the refund limit, so it keeps it.
      const { refundLimit } = members.find(({ person }) => person?.id === personId) ?? {};
      const takesLimit = roles.find(({ name }) => name === role)?.takesRefundLimit === true;
      const limit = takesLimit && refundLimit ? { refundLimit } : {};
      await people.updateMember({ sessionSecret: visit.secret, door, merchantId, personId, role, ...limit });
      return { go: scope.path, done: "member-changed" };
    };
    return await showRefusal(visit, change, (problems) => membersPage(context, visit, scope, problems));
  });
  operatorForm(context, `${path}/:personId/remove`, needs, async (visit) => {
    const scope = await find(visit);
    const { door, merchantId } = scope;
    const remove = async () => {
      const personId = paramOf(visit, "personId");
      await people.removeMember({ sessionSecret: visit.secret, door, merchantId, personId });
      return { go: scope.path, done: "member-removed" };
    };
    return await showRefusal(visit, remove, (problems) => membersPage(context, visit, scope, problems));
  });
  operatorForm(context, `${path}/invitations/:invitationId/revoke`, needs, async (visit) => {
    const { door, merchantId, path: back } = await find(visit);
    const invitationId = paramOf(visit, "invitationId");
    await people.revokeInvitation({ sessionSecret: visit.secret, door, merchantId, invitationId });
    return { go: back, done: "invitation-revoked" };
  });
}

async function invite(context: ConsoleContext, visit: OperatorVisit, scope: MembersScope, form: Form): Promise<Answer> {
  const [email, role] = [form.text("email"), form.text("role")];
  const texts = textsOf(visit.language).people;
  if (email === "") {
    const typed = { email, role };
    return { ...(await membersPage(context, visit, scope, [["email", texts.emailNeeded]], typed)), status: 422 };
  }
  const { door, merchantId } = scope;
  const send = async (): Promise<Page> => {
    const request = { sessionSecret: visit.secret, door, merchantId, email, role, language: visit.language };
    return invitedPage(visit, email, await context.peers.people.inviteMember(request), scope.path);
  };
  return await showRefusal(visit, send, (problems) => {
    const shownProblems = problems.map(
      ([field, text]) => [field, field === "email" ? texts.emailTaken : text] as const,
    );
    return membersPage(context, visit, scope, shownProblems, { email, role });
  });
}

/** The people of one merchant or of the installation. */
interface MembersScope {
  readonly door: Door;
  /** `mer_…`; empty: the installation. */
  readonly merchantId: string;
  readonly path: string;
  readonly title: string;
  readonly mayWrite: boolean;
}

interface InvitationValues {
  readonly email: string;
  readonly role: string;
}

async function membersPage(
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
  const { person, role } = member;
  const id = person?.id ?? "";
  const change = postForm(visit, {
    action: `${path}/${id}/role`,
    fields: [roleField(visit, `role-${id}`, roles, role)],
    button: texts.save,
    tone: "secondary",
  });
  const remove = postForm(visit, { action: `${path}/${id}/remove`, button: texts.remove, tone: "danger" });
  return renderDetails(
    fillText(texts.changeFor, { name: memberName(member) }),
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
  return formPanel(texts.invite, form);
}
