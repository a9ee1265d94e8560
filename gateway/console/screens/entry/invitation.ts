// Accepts an invitation. A new person enters a name and then sets up a sign-in method.
import { Failure } from "#platform/values/failure.ts";
import type { GetInvitationResponse } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { unlessRefused } from "../../http/form.ts";
import { openForm, openPage } from "../../routes.ts";
import type { ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { renderAlert, textField } from "../../view/fields.ts";
import { cardPage } from "../../view/forms.ts";
import { factList } from "../../view/table.ts";
import { dayText } from "../../view/values.ts";
import { browserOf, startSession } from "./sign-in.ts";

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
