// The people of a merchant: members, open invitations, and the table of what each role may do.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Invitation, ListMembersResponse, Member, RefundLimit } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fill, type Language, textsOf } from "../../texts/texts.ts";
import { buttonForm } from "../../view/button-form.ts";
import { hidden } from "../../view/fields.ts";
import { section } from "../../view/section.ts";
import { table } from "../../view/table.ts";
import { moment, money } from "../../view/values.ts";
import { mayChangeRole } from "./team-role.ts";

/** The service asks for the proof itself; asked for here, nothing typed is lost. */
export const teamNeeds = { action: "team.write", proof: () => true };

export function teamRoutes(context: ConsoleContext): void {
  const { peers, door } = context;
  merchantPage(context, "/team", "team.read", async (visit) => await teamPage(context, visit));
  merchantPage(context, "/team/roles", "team.read", async (visit) => await rolesPage(context, visit));
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
  const texts = textsOf(visit.language).team;
  const invited = visit.may("team.write") || invitations.length > 0;
  return html`${memberTable(visit, members)}
${invited ? html`<h2>${texts.invitations}</h2>${invitationTable(visit, invitations)}` : ""}`;
}

function memberTable(visit: MerchantVisit, members: readonly Member[]): Html {
  const { language, base, session } = visit;
  const texts = textsOf(language).team;
  const mayChange = visit.may("team.write");
  const nameOf = ({ person }: Member) => person?.name || person?.email || "";
  return table({
    caption: texts.title,
    rows: members,
    empty: "",
    columns: [
      {
        heading: texts.member,
        cell: (member) =>
          html`<span><strong>${nameOf(member)}</strong>${member.person?.id === session.person?.id ? ` (${texts.you})` : ""}<br><span class="muted">${member.person?.email ?? ""}</span></span>`,
      },
      { heading: texts.role, cell: ({ role, refundLimit }) => roleCell(language, role, refundLimit) },
      { heading: texts.waysIn, cell: (member) => formatMethods(language, member) },
      { heading: texts.joined, cell: ({ joinedAt }) => moment(language, joinedAt) },
      { heading: texts.lastSeen, cell: ({ lastSeenAt }) => moment(language, lastSeenAt) || texts.never },
      ...(mayChange
        ? [
            {
              heading: "",
              cell: (member: Member) =>
                mayChangeRole(visit, member.role)
                  ? html`<a href="${base}/team/members/${member.person?.id ?? ""}" aria-label="${fill(texts.changeWhose, { name: nameOf(member) })}">${texts.change}</a>`
                  : "",
            },
          ]
        : []),
    ],
  });
}

export function roleCell(language: Language, role: string, limit: RefundLimit | undefined): Html {
  const shown = limit
    ? html`<br><span class="muted">${textsOf(language).team.limit}: ${money(language, limit.amount, limit.currency)}</span>`
    : "";
  return html`<span>${translateCode(language, "roles", role)}${shown}</span>`;
}

function formatMethods(language: Language, { hasPasskey, hasAuthenticator }: Member): string {
  const texts = textsOf(language).team;
  const methods = [...(hasPasskey ? [texts.passkey] : []), ...(hasAuthenticator ? [texts.authenticator] : [])];
  return methods.length > 0 ? methods.join(", ") : texts.noWay;
}

function invitationTable(visit: MerchantVisit, invitations: readonly Invitation[]): Html {
  const { language, base } = visit;
  const texts = textsOf(language).team;
  const isOver = ({ expiresAt }: Invitation) =>
    expiresAt !== undefined && timestampDate(expiresAt).getTime() < Date.now();
  const revoke = ({ id, email }: Invitation) =>
    buttonForm(visit, {
      action: `${base}/team/invitations/revoke`,
      text: texts.revoke,
      label: fill(texts.revokeWhose, { email }),
      fields: [hidden("invitation_id", id)],
      isSmall: true,
    });
  return table({
    caption: texts.invitations,
    rows: invitations,
    empty: texts.noInvitation,
    columns: [
      { heading: texts.email, cell: ({ email }) => email },
      { heading: texts.role, cell: ({ role, refundLimit }) => roleCell(language, role, refundLimit) },
      { heading: texts.invitedBy, cell: ({ inviterName }) => inviterName || texts.operator },
      {
        heading: texts.until,
        cell: (invitation) => (isOver(invitation) ? texts.over : moment(language, invitation.expiresAt)),
      },
      ...(visit.may("team.write")
        ? [{ heading: "", cell: (each: Invitation) => (mayChangeRole(visit, each.role) ? revoke(each) : "") }]
        : []),
    ],
  });
}

async function rolesPage({ peers, door }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).team;
  const { roles, actions } = await peers.people.listRoles({ door });
  const roleColumns = roles.map(({ name, actions: held }) => ({
    heading: translateCode(language, "roles", name),
    cell: (action: string) =>
      held.includes(action)
        ? html`<span class="may" role="img" aria-label="${texts.yes}">✓</span>`
        : html`<span class="muted" role="img" aria-label="${texts.no}">–</span>`,
  }));
  return {
    title: texts.rolesTitle,
    body: html`<h1>${texts.rolesTitle}</h1><p class="muted">${texts.rolesAbout}</p>
${table({
  caption: texts.rolesTitle,
  rows: actions,
  empty: "",
  columns: [{ heading: texts.action, cell: (action) => translateCode(language, "rights", action) }, ...roleColumns],
})}<p><a href="${base}/team">${texts.toTeam}</a></p>`,
  };
}
