// The team of a merchant: members, invitations and the rights of each role. Members can be invited, edited and removed.

import { Failure, requireFound } from "#platform/values/failure.ts";
import type { ListMembersResponse, Member } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, problemsOf, refusedFields, unlessRefused } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { hiddenField, problemSummary, textFields } from "../../view/fields.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { invitationTable, invitedPage, memberName, memberTable, roleTable } from "../../view/people.ts";
import { loadSection } from "../../view/section.ts";
import {
  mayChangeRole,
  type RoleChoice,
  readRole,
  roleChoice,
  roleFields,
  roleProblems,
  type TypedRole,
  typedRole,
} from "./member-role.ts";

/** The merchant service demands proof as well. Asking here keeps the form's input. */
const teamNeeds = { action: "team.write", proof: () => true };

export function teamRoutes(context: ConsoleContext): void {
  const { peers, door } = context;
  merchantPage(context, "/team", "team.read", (visit) => teamPage(context, visit));
  merchantPage(context, "/team/roles", "team.read", (visit) => rolesPage(context, visit));
  merchantForm(context, "/team/invitations/revoke", teamNeeds, async (visit, form) => {
    const { secret: sessionSecret, merchantId, base } = visit;
    const invitationId = form.raw("invitation_id");
    await peers.people.revokeInvitation({ sessionSecret, door, merchantId, invitationId });
    return { go: `${base}/team`, done: "invitation-revoked" };
  });
}

async function teamPage({ peers, door }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { secret: sessionSecret, merchantId, language, base } = visit;
  const texts = textsOf(language).team;
  const load = () => peers.people.listMembers({ sessionSecret, door, merchantId });
  const invite = visit.may("team.write") ? html`<a class="button" href="${base}/team/invite">${texts.invite}</a>` : "";
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>
<div class="actions">${invite}<a href="${base}/team/roles">${texts.rolesLink}</a></div>
${await loadSection(language, texts.title, load, (found) => people(visit, found))}`,
  };
}

function people(visit: MerchantVisit, { members, invitations }: ListMembersResponse): Html {
  const { language, base } = visit;
  const texts = textsOf(language).team;
  if (!visit.may("team.write")) {
    const open = html`<h2>${texts.invitations}</h2>${invitationTable(visit, invitations)}`;
    return html`${memberTable(visit, members)}${invitations.length > 0 ? open : ""}`;
  }
  const edited = memberTable(visit, members, (member) => {
    if (!mayChangeRole(visit, member.role)) return "";
    const label = fillText(texts.changeFor, { name: memberName(member) });
    return html`<a href="${base}/team/members/${member.person?.id ?? ""}" aria-label="${label}">${texts.change}</a>`;
  });
  const revoked = invitationTable(visit, invitations, ({ id, role }) => {
    const form = { action: `${base}/team/invitations/revoke`, fields: [hiddenField("invitation_id", id)] };
    return mayChangeRole(visit, role) ? form : undefined;
  });
  return html`${edited}<h2>${texts.invitations}</h2>${revoked}`;
}

async function rolesPage({ peers, door }: ConsoleContext, { language, base }: MerchantVisit): Promise<Page> {
  const texts = textsOf(language).team;
  const { roles, actions } = await peers.people.listRoles({ door });
  return {
    title: texts.rolesTitle,
    body: html`<h1>${texts.rolesTitle}</h1><p class="muted">${texts.rolesAbout}</p>
${roleTable(language, roles, actions)}<p><a href="${base}/team">${texts.toTeam}</a></p>`,
  };
}

interface FormValues extends TypedRole {
  readonly email: string;
}

export function teamInviteRoutes(context: ConsoleContext): void {
  merchantPage(context, "/team/invite", "team.write", async (visit) => {
    return invitePage(visit, await roleChoice(context, visit), { email: "", role: "", limit: "", others: "" });
  });
  merchantForm(context, "/team/invite", teamNeeds, (visit, form) => invite(context, visit, form));
}

async function invite(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { secret: sessionSecret, merchantId, language, base } = visit;
  const { peers, door } = context;
  const choice = await roleChoice(context, visit);
  const { typed: typedRole, refundLimit, isWrong } = readRole(form, choice);
  const typed = { ...typedRole, email: form.text("email") };
  const wrong = new Set([
    ...(typed.email === "" ? ["email"] : []),
    ...(choice.roles.some(({ name }) => name === typed.role) ? [] : ["role"]),
    ...(isWrong ? ["refund_limit"] : []),
  ]);
  if (wrong.size > 0) return invitePage(visit, choice, typed, wrong);
  try {
    const member = { email: typed.email, role: typed.role, language, ...(refundLimit && { refundLimit }) };
    const invited = await peers.people.inviteMember({ sessionSecret, door, merchantId, ...member });
    return invitedPage(visit, invited.invitation?.email ?? typed.email, invited, `${base}/team`);
  } catch (error) {
    return invitePage(visit, choice, typed, refusedFields(error));
  }
}

function invitePage(
  visit: MerchantVisit,
  choice: RoleChoice,
  typed: FormValues,
  wrong: ReadonlySet<string> = new Set(),
): Page {
  const { language, base } = visit;
  const texts = textsOf(language).team;
  const problems = problemsOf(wrong, {
    email: ["email", texts.emailWrong],
    invitations: ["email", texts.tooManyInvitations],
    ...roleProblems(language),
  });
  const email = textFields({ email: typed.email }, problems)("email", texts.email, {
    ...{ hint: texts.emailHint, type: "email", inputmode: "email", maxlength: 254, required: true },
  });
  const form = postForm(visit, {
    action: `${base}/team/invite`,
    fields: [email, roleFields(visit, choice, typed, problems)],
    button: texts.send,
    layout: "panel",
    link: html`<a href="${base}/team/roles">${texts.rolesLink}</a>`,
  });
  return {
    title: texts.inviteTitle,
    status: wrong.size > 0 ? 422 : 200,
    body: html`<h1>${texts.inviteTitle}</h1>${problemSummary(textsOf(language).frame.problemTitle, problems)}
${form}`,
  };
}

/** Refusals without a field: the last owner, or a role above the person's own. */
const refused = "refused";

export function teamMemberRoutes(context: ConsoleContext): void {
  const { peers, door } = context;
  merchantPage(context, "/team/members/:id", "team.write", async (visit) => {
    const member = await memberOf(context, visit);
    return memberPage(visit, member, await roleChoice(context, visit), typedRole(member.role, member.refundLimit));
  });
  merchantForm(context, "/team/members/:id", teamNeeds, (visit, form) => change(context, visit, form));
  merchantPage(context, "/team/members/:id/remove", "team.write", async (visit) => {
    return removePage(visit, await memberOf(context, visit));
  });
  merchantForm(context, "/team/members/:id/remove", teamNeeds, async (visit) => {
    const { secret: sessionSecret, merchantId, base } = visit;
    const member = await memberOf(context, visit);
    const personId = member.person?.id ?? "";
    const call = peers.people.removeMember({ sessionSecret, door, merchantId, personId });
    if (!(await unlessRefused(call, "FORBIDDEN"))) return removePage(visit, member, true);
    return personId === visit.session.person?.id ? { go: "/" } : { go: `${base}/team`, done: "member-removed" };
  });
}

/** @throws Failure NOT_FOUND; FORBIDDEN for a role above the person's own */
async function memberOf({ peers, door }: ConsoleContext, visit: MerchantVisit): Promise<Member> {
  const { secret: sessionSecret, merchantId } = visit;
  const { members } = await peers.people.listMembers({ sessionSecret, door, merchantId });
  const member = requireFound(members.find(({ person }) => person?.id === paramOf(visit, "id")));
  if (!mayChangeRole(visit, member.role)) throw new Failure("FORBIDDEN");
  return member;
}

async function change(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { secret: sessionSecret, merchantId, base } = visit;
  const member = await memberOf(context, visit);
  const choice = await roleChoice(context, visit);
  const { typed, refundLimit, isWrong } = readRole(form, choice);
  if (isWrong) return memberPage(visit, member, choice, typed, new Set(["refund_limit"]));
  const changes = { personId: member.person?.id ?? "", role: typed.role, ...(refundLimit && { refundLimit }) };
  try {
    await context.peers.people.updateMember({ sessionSecret, door: context.door, merchantId, ...changes });
    return { go: `${base}/team`, done: "member-changed" };
  } catch (error) {
    const isForbidden = error instanceof Failure && error.reason === "FORBIDDEN";
    return memberPage(visit, member, choice, typed, isForbidden ? new Set([refused]) : refusedFields(error));
  }
}

function memberPage(
  visit: MerchantVisit,
  { person }: Member,
  choice: RoleChoice,
  typed: TypedRole,
  wrong: ReadonlySet<string> = new Set(),
): Page {
  const { language, base } = visit;
  const texts = textsOf(language).team;
  const memberPath = `${base}/team/members/${person?.id ?? ""}`;
  const problems = problemsOf(wrong, { [refused]: ["role-0", texts.refused], ...roleProblems(language) });
  const form = postForm(visit, {
    action: memberPath,
    fields: [roleFields(visit, choice, typed, problems)],
    button: texts.save,
    layout: "panel",
    link: html`<a href="${base}/team/roles">${texts.rolesLink}</a>`,
  });
  return {
    title: texts.changeTitle,
    status: wrong.size > 0 ? 422 : 200,
    body: html`<h1>${person?.name || texts.changeTitle}</h1><p class="muted">${person?.email ?? ""}</p>
${problemSummary(textsOf(language).frame.problemTitle, problems)}
${form}
<p><a class="button danger" href="${memberPath}/remove">${texts.remove}</a></p>`,
  };
}

function removePage(visit: MerchantVisit, { person }: Member, isRefused = false): Page {
  const texts = textsOf(visit.language).team;
  return questionPage(visit, {
    title: texts.removeTitle,
    text: html`<p><strong>${person?.name ?? ""}</strong> ${person?.email ?? ""}</p><p>${texts.removeText}</p>`,
    problem: isRefused ? texts.refused : "",
    action: `${visit.base}/team/members/${person?.id ?? ""}/remove`,
    button: texts.removeButton,
    back: `${visit.base}/team`,
  });
}
