// Edits a member's role and limit, or removes the member.
import { Failure } from "#platform/values/failure.ts";
import type { Member } from "#proto/merchant/v1/people_pb.ts";
import { html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { type Form, problemsOf, refusedFields, unlessRefused } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { problemSummary } from "../../view/fields.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { teamNeeds } from "./team.ts";
import {
  mayChangeRole,
  type RoleChoice,
  readRole,
  roleChoice,
  roleFields,
  roleProblems,
  type TypedRole,
  typedRole,
} from "./team-role.ts";

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
  const member = members.find(({ person }) => person?.id === paramOf(visit, "id"));
  if (!member) throw new Failure("NOT_FOUND");
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
