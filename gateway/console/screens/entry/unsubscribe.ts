// Ends one kind of email by the link in it, without a sign-in. People press a button, because scanners open links. Mail
// programs send the one-click request of RFC 8058 from anywhere. The link's token is the only credential.
import { html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { unlessRefused } from "../../http/form.ts";
import { openForm, openPage } from "../../routes.ts";
import type { ConsoleContext, Visit } from "../../session/visit.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { cardPage } from "../../view/forms.ts";

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
