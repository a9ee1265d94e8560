// Members, invitations and roles, on the team pages of both consoles.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Invitation, InviteMemberResponse, Member, RefundLimit, Role } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../html.ts";
import type { Page, PersonVisit } from "../session/visit.ts";
import { translateCode } from "../texts/labels.ts";
import { fillText, type Language, textsOf } from "../texts/texts.ts";
import { postForm } from "./forms.ts";
import { codeBlock } from "./pieces.ts";
import { htmlTable } from "./table.ts";
import { dateTimeText, moneyText } from "./values.ts";

export function memberName({ person }: Member): string {
  return person?.name || person?.email || "";
}

/** @param edit control of a row; default: none */
export function memberTable(
  { language, session }: PersonVisit,
  members: readonly Member[],
  edit?: (member: Member) => Html | string,
): Html {
  const texts = textsOf(language).team;
  const you = ({ person }: Member) => (person?.id === session.person?.id ? ` (${texts.you})` : "");
  return htmlTable({
    caption: texts.title,
    rows: members,
    empty: texts.noMembers,
    columns: [
      {
        heading: texts.member,
        cell: (member) =>
          html`<span><strong>${memberName(member)}</strong>${you(member)}<br><span class="muted">${member.person?.email ?? ""}</span></span>`,
      },
      { heading: texts.role, cell: ({ role, refundLimit }) => roleCell(language, role, refundLimit) },
      { heading: texts.signInMethods, cell: (member) => formatMethods(language, member) },
      { heading: texts.joined, cell: ({ joinedAt }) => dateTimeText(language, joinedAt) },
      { heading: texts.lastSeen, cell: ({ lastSeenAt }) => dateTimeText(language, lastSeenAt) || texts.never },
      ...(edit ? [{ heading: "", cell: edit }] : []),
    ],
  });
}

function roleCell(language: Language, role: string, limit: RefundLimit | undefined): Html {
  const limits = limit ? [[limit.currency, limit.amount] as const, ...Object.entries(limit.others)] : [];
  const amounts = limits.map(([currency, amount]) => moneyText(language, amount, currency));
  const shown = limit
    ? html`<br><span class="muted">${textsOf(language).team.limit}: ${amounts.join(", ")}</span>`
    : "";
  return html`<span>${translateCode(language, "roles", role)}${shown}</span>`;
}

function formatMethods(language: Language, { hasPasskey, hasAuthenticator }: Member): string {
  const texts = textsOf(language).team;
  const methods = [...(hasPasskey ? [texts.passkey] : []), ...(hasAuthenticator ? [texts.authenticator] : [])];
  return methods.length > 0 ? methods.join(", ") : texts.noMethod;
}

/** @param revoke the form's address and fields, for an invitation that the person may revoke */
export function invitationTable(
  visit: PersonVisit,
  invitations: readonly Invitation[],
  revoke?: (invitation: Invitation) => { readonly action: string; readonly fields: readonly Html[] } | undefined,
): Html {
  const { language } = visit;
  const texts = textsOf(language).team;
  const isExpired = ({ expiresAt }: Invitation) =>
    expiresAt !== undefined && timestampDate(expiresAt).getTime() < Date.now();
  const button = (invitation: Invitation) => {
    const form = revoke?.(invitation);
    const label = fillText(texts.revokeFor, { email: invitation.email });
    return form ? postForm(visit, { ...form, button: texts.revoke, label, tone: "secondary", layout: "row" }) : "";
  };
  return htmlTable({
    caption: texts.invitations,
    rows: invitations,
    empty: texts.noInvitation,
    columns: [
      { heading: texts.email, cell: ({ email }) => email },
      { heading: texts.role, cell: ({ role, refundLimit }) => roleCell(language, role, refundLimit) },
      { heading: texts.invitedBy, cell: ({ inviterName }) => inviterName || texts.operator },
      {
        heading: texts.until,
        cell: (each) => (isExpired(each) ? texts.expired : dateTimeText(language, each.expiresAt)),
      },
      ...(revoke ? [{ heading: "", cell: button }] : []),
    ],
  });
}

/** Shows the invitation link, which is in no URL of the console. */
export function invitedPage(
  { language }: PersonVisit,
  email: string,
  { link, isMailed }: InviteMemberResponse,
  teamPath: string,
): Page {
  const texts = textsOf(language).team;
  const shown = html`<section class="panel secret"><h2>${texts.link}</h2>${codeBlock(language, link)}<p class="warning">${texts.linkNote}</p></section>`;
  return {
    title: texts.invitedTitle,
    body: html`<h1>${texts.invitedTitle}</h1><p>${fillText(texts.invitedText, { email })} ${isMailed ? texts.mailed : texts.notMailed}</p>
${link === "" ? "" : shown}
<p><a class="button" href="${teamPath}">${texts.toTeam}</a></p>`,
  };
}

/** Every action with the roles that allow it. */
export function roleTable(language: Language, roles: readonly Role[], actions: readonly string[]): Html {
  const texts = textsOf(language).team;
  const columns = roles.map(({ name, actions: allowed }) => ({
    heading: translateCode(language, "roles", name),
    cell: (action: string) =>
      allowed.includes(action)
        ? html`<span class="may" role="img" aria-label="${texts.yes}">✓</span>`
        : html`<span class="muted" role="img" aria-label="${texts.no}">–</span>`,
  }));
  return htmlTable({
    caption: texts.rolesTitle,
    rows: actions,
    empty: "",
    columns: [{ heading: texts.action, cell: (action) => translateCode(language, "rights", action) }, ...columns],
  });
}
