// Pages of links and of the start address: it redirects to the only merchant or offers a choice. A link in an email
// ends its kind of email. An invitation is accepted: a new person enters a name and then sets up a sign-in method.

import { Failure } from "#platform/values/failure.ts";
import type { GetInvitationResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { unlessRefused } from "../../http/form.ts";
import { openForm, openPage, personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit, Visit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { renderAlert, textField } from "../../view/fields.ts";
import { cardPage } from "../../view/forms.ts";
import { factList } from "../../view/table.ts";
import { dayText } from "../../view/values.ts";
import { browserOf, startSession } from "./sign-in.ts";

export function startRoutes(context: ConsoleContext): void {
  const isOperators = context.config.CONSOLE_DOOR === "operators";
  personPage(context, "/", async (visit) => {
    const [only, ...others] = visit.session.memberships;
    if (!only || others.length > 0) return choicePage(visit);
    return { go: isOperators ? "/merchants" : `/${only.merchantId}/sandbox/home`, ...doneOf(visit) };
  });
  personPage(context, "/choose", async (visit) => choicePage(visit));
}

function choicePage({ language, session }: PersonVisit): Page {
  const texts = textsOf(language).entry;
  const items = session.memberships.map(
    ({ merchantId, merchantName, role }) =>
      html`<li><a href="/${merchantId}/sandbox/home"><strong>${merchantName}</strong> <span class="muted">${translateCode(language, "roles", role)}</span></a></li>`,
  );
  const body = items.length === 0 ? html`<p>${texts.chooseNone}</p>` : html`<ul class="choices">${items}</ul>`;
  return cardPage(texts.chooseTitle, body);
}

/** Passes the notice on to the next page. */
function doneOf(visit: PersonVisit): { done?: string } {
  const done = queryOf(visit).get("done");
  return done !== null && /^[a-z-]{1,40}$/.test(done) ? { done } : {};
}

const path = "/unsubscribe/:token";

export function unsubscribeRoutes(context: ConsoleContext): void {
  openPage(context, path, async ({ language }) => {
    const texts = textsOf(language).entry;
    return cardPage(
      texts.unsubscribeTitle,
      html`<p>${texts.unsubscribeText}</p>
<form method="post"><button class="button">${texts.unsubscribeButton}</button></form>`,
    );
  });
  const end = async (visit: Visit) => {
    const texts = textsOf(visit.language).entry;
    const ended = context.peers.people.endNotification({ token: paramOf(visit, "token") });
    const found = await unlessRefused(ended, "NOT_FOUND", "INVALID_BODY");
    const text = found ? fillText(texts.unsubscribed, { merchant: found.merchantName }) : texts.unsubscribeUnknown;
    return cardPage(texts.unsubscribeTitle, html`<p role="status">${text}</p>`, found ? 200 : 404);
  };
  openForm(context, path, end, true);
}

const nameMax = 100;

export function invitationRoutes(context: ConsoleContext): void {
  const { peers, door, cookies } = context;
  openPage(context, "/invitations/:token", (visit) => invitationPage(context, visit));
  openForm(context, "/invitations/:token", async (visit, form) => {
    const name = form.text("name").slice(0, nameMax);
    try {
      const { session, merchantId } = await peers.signIn.acceptInvitation({
        door,
        token: paramOf(visit, "token"),
        name,
        language: visit.language,
        sessionSecret: cookies.read(visit.request, "session"),
        browser: browserOf(visit.request),
      });
      if (session?.secret) return startSession(context, visit, session);
      return { go: merchantId === "" ? "/" : `/${merchantId}/sandbox/home`, done: "joined" };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.reason === "NOT_FOUND") return expiredPage(visit);
      if (error.reason === "FORBIDDEN") return await invitationPage(context, visit, { problem: "invitationOther" });
      if (error.reason === "INVALID_BODY") return await invitationPage(context, visit, { problem: "nameNeeded", name });
      throw error;
    }
  });
}

interface AcceptAttempt {
  readonly problem?: "invitationOther" | "nameNeeded";
  readonly name?: string;
}

async function invitationPage(context: ConsoleContext, visit: Visit, tried: AcceptAttempt = {}): Promise<Page> {
  const texts = textsOf(visit.language).entry;
  const found = context.peers.signIn.getInvitation({ door: context.door, token: paramOf(visit, "token") });
  const invitation = await unlessRefused(found, "NOT_FOUND", "INVALID_BODY");
  if (!invitation) return expiredPage(visit);
  const isSignedIn = context.cookies.read(visit.request, "session") !== "";
  const body = html`<p>${fillText(texts.invitationTo, { inviter: invitation.inviterName, place: invitation.merchantName || texts.installation })}</p>
${factList([
  [texts.invitationFor, invitation.email],
  [texts.invitationRole, translateCode(visit.language, "roles", invitation.role)],
  [texts.invitationUntil, dayText(visit.language, invitation.expiresAt)],
])}
${renderAlert(tried.problem === "invitationOther" ? texts.invitationOther : "")}
${invitation.isKnown && !isSignedIn ? signInFirst(visit) : acceptForm(visit, invitation, tried)}`;
  return cardPage(texts.invitationTitle, body, tried.problem ? 422 : 200);
}

function signInFirst(visit: Visit): Html {
  const texts = textsOf(visit.language).entry;
  const to = new URLSearchParams({ to: visit.request.url });
  return html`<p>${texts.invitationKnown}</p><p><a class="button" href="/sign-in?${to.toString()}">${texts.signInTitle}</a></p>`;
}

function acceptForm(
  { language }: Visit,
  { isKnown }: GetInvitationResponse,
  { problem, name = "" }: AcceptAttempt,
): Html {
  const texts = textsOf(language).entry;
  if (isKnown) return html`<form method="post"><button class="button">${texts.acceptKnown}</button></form>`;
  const field = textField({
    name: "name",
    label: texts.name,
    hint: texts.nameHint,
    value: name,
    autocomplete: "name",
    maxlength: nameMax,
    required: true,
    problem: problem === "nameNeeded" ? texts.nameNeeded : "",
  });
  return html`<form method="post">${field}<button class="button">${texts.accept}</button></form>`;
}

function expiredPage({ language }: Visit): Page {
  const texts = textsOf(language).entry;
  return cardPage(texts.invitationTitle, html`<p>${texts.invitationOver}</p>`, 404);
}
