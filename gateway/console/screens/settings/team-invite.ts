// Inviting somebody: the link is on the page that answers the form, once, and in their mail where mail can be sent.
import { html } from "../../../html.ts";
import { type Form, formFields, refusedFields } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fill, textsOf } from "../../texts/texts.ts";
import { hidden, problemSummary, textField } from "../../view/fields.ts";
import { codeBlock } from "../../view/pieces.ts";
import { teamNeeds } from "./team.ts";
import { type RoleChoice, readRole, roleChoice, roleFields, roleProblems, type TypedRole } from "./team-role.ts";

const emailMax = 254;

interface FormValues extends TypedRole {
  readonly email: string;
}

export function teamInviteRoutes(context: ConsoleContext): void {
  merchantPage(context, "/team/invite", "team.write", async (visit) => {
    return invitePage(visit, await roleChoice(context, visit), { email: "", role: "", limit: "" });
  });
  merchantForm(context, "/team/invite", teamNeeds, async (visit, form) => await invite(context, visit, form));
}

async function invite(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { secret: sessionSecret, merchantId, language } = visit;
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
    const wanted = { email: typed.email, role: typed.role, language, ...(refundLimit && { refundLimit }) };
    const made = await peers.people.inviteMember({ sessionSecret, door, merchantId, ...wanted });
    return invitedPage(visit, made.invitation?.email ?? typed.email, made.link, made.isMailed);
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
  const { language, base, token } = visit;
  const texts = textsOf(language).team;
  const problems = [
    ...(wrong.has("email") ? [["email", texts.emailWrong] as const] : []),
    ...(wrong.has("invitations") ? [["email", texts.tooManyMails] as const] : []),
    ...roleProblems(visit, wrong),
  ];
  return {
    title: texts.inviteTitle,
    status: wrong.size > 0 ? 422 : 200,
    body: html`<h1>${texts.inviteTitle}</h1>${problemSummary(textsOf(language).frame.wrongTitle, problems)}
<form method="post" action="${base}/team/invite" class="panel">${hidden(formFields.token, token)}
${textField({ name: "email", label: texts.email, hint: texts.emailHint, value: typed.email, type: "email", inputmode: "email", maxlength: emailMax, required: true, problem: wrong.has("email") ? texts.emailWrong : "" })}
${roleFields(visit, choice, typed, wrong)}
<div class="actions"><button class="button">${texts.send}</button><a href="${base}/team/roles">${texts.rolesLink}</a></div></form>`,
  };
}

function invitedPage({ language, base }: MerchantVisit, email: string, link: string, isMailed: boolean): Page {
  const texts = textsOf(language).team;
  return {
    title: texts.invitedTitle,
    body: html`<h1>${texts.invitedTitle}</h1><p>${fill(texts.invitedText, { email })} ${isMailed ? texts.mailed : texts.notMailed}</p>
${link === "" ? "" : html`<section class="panel secret"><h2>${texts.link}</h2>${codeBlock(language, link)}<p class="warning">${texts.linkNote}</p></section>`}
<p><a class="button" href="${base}/team">${texts.toTeam}</a></p>`,
  };
}
