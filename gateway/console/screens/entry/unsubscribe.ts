// Ending one kind of mail by the link in it, without a sign-in: by a button for people, since scanners open links, and
// by the one click of a mail program (RFC 8058), which comes from anywhere. The link's token is all that it takes.
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { html } from "../../../html.ts";
import { openPage, tokenForm } from "../../routes.ts";
import type { ConsoleContext, Page, Visit } from "../../session/visit.ts";
import { fill, textsOf } from "../../texts/texts.ts";

const path = "/unsubscribe/:token";

export function unsubscribeRoutes(context: ConsoleContext): void {
  openPage(context, path, async ({ language }) => {
    const texts = textsOf(language).entry;
    return {
      title: texts.unsubscribeTitle,
      body: html`<div class="card narrow"><h1>${texts.unsubscribeTitle}</h1><p>${texts.unsubscribeText}</p>
<form method="post"><button class="button">${texts.unsubscribeButton}</button></form></div>`,
    };
  });
  tokenForm(context, path, async (visit) => {
    try {
      const { merchantName } = await context.peers.people.endNotification({ token: tokenOf(visit) });
      return renderMessage(visit, 200, fill(textsOf(visit.language).entry.unsubscribed, { merchant: merchantName }));
    } catch (error) {
      if (!(error instanceof Failure) || !["NOT_FOUND", "INVALID_BODY"].includes(error.reason)) throw error;
      return renderMessage(visit, 404, textsOf(visit.language).entry.unsubscribeUnknown);
    }
  });
}

function renderMessage({ language }: Visit, status: number, text: string): Page {
  const title = textsOf(language).entry.unsubscribeTitle;
  return { title, status, body: html`<div class="card narrow"><h1>${title}</h1><p role="status">${text}</p></div>` };
}

function tokenOf({ request }: Visit): string {
  const { token } = membersOf(request.params);
  return typeof token === "string" ? token : "";
}
