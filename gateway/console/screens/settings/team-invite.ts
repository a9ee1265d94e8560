// Invites a member. The page that answers the form shows the link once; it is also emailed if possible.
import { html } from "../../../html.ts";
import { type Form, problemsOf, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { problemSummary, textFields } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { invitedPage } from "../../view/people.ts";
import { teamNeeds } from "./team.ts";
import { type RoleChoice, readRole, roleChoice, roleFields, roleProblems, type TypedRole } from "./team-role.ts";

interface FormValues extends TypedRole {
  readonly email: string;
}

export function teamInviteRoutes(context: ConsoleContext): void {
  merchantPage(context, "/team/invite", "team.write", async (visit) => {
    return invitePage(visit, await roleChoice(context, visit), { email: "", role: "", limit: "" });
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
