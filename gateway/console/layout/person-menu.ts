// Who is signed in, with the way to their account and out; in the head of every page.
import { type Html, html } from "../../docs/html.ts";
import { formFields } from "../http/form.ts";
import type { PersonVisit } from "../session/visit.ts";
import { frameTexts } from "../texts/frame.ts";
import { hidden } from "../view/fields.ts";

export function personMenu({ language, session, token }: PersonVisit): Html {
  const texts = frameTexts[language];
  const { person } = session;
  return html`<details class="menu person-menu"><summary>${person?.name || person?.email || ""}</summary>
<div class="menu-list"><p class="muted">${person?.email ?? ""}</p><a href="/account">${texts.account}</a>
${session.memberships.length > 1 ? html`<a href="/choose">${texts.otherMerchants}</a>` : ""}
<form method="post" action="/sign-out">${hidden(formFields.token, token)}<button class="link">${texts.signOut}</button></form></div></details>`;
}
