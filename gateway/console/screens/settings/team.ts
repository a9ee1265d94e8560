// The team of a merchant: members, open invitations, and the rights of each role.
import type { ListMembersResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fill, textsOf } from "../../texts/texts.ts";
import { hidden } from "../../view/fields.ts";
import { invitationTable, memberName, memberTable, roleTable } from "../../view/people.ts";
import { section } from "../../view/section.ts";
import { mayChangeRole } from "./team-role.ts";

/** The merchant service demands proof as well. Asking here keeps the form's input. */
export const teamNeeds = { action: "team.write", proof: () => true };

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
${await section(language, texts.title, load, (found) => people(visit, found))}`,
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
    const label = fill(texts.changeFor, { name: memberName(member) });
    return html`<a href="${base}/team/members/${member.person?.id ?? ""}" aria-label="${label}">${texts.change}</a>`;
  });
  const revoked = invitationTable(visit, invitations, ({ id, role }) => {
    const form = { action: `${base}/team/invitations/revoke`, fields: [hidden("invitation_id", id)] };
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
