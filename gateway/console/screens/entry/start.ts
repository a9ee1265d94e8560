// The start address redirects to the only merchant or offers a choice.
import { html } from "../../../html.ts";
import { queryOf } from "../../http/address.ts";
import { personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { textsOf } from "../../texts/texts.ts";
import { cardPage } from "../../view/forms.ts";

export function startRoutes(context: ConsoleContext): void {
  const isOperators = context.config.CONSOLE_DOOR === "operators";
  personPage(context, "/", async (visit) => {
    const [only, ...others] = visit.session.memberships;
    if (!only || others.length > 0) return choicePage(visit);
    return { go: isOperators ? "/overview" : `/${only.merchantId}/sandbox/home`, ...doneOf(visit) };
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
