// The first address: on to the merchant, or the choice among several.
import { html } from "../../../html.ts";
import { personPage } from "../../routes.ts";
import type { ConsoleContext, Page, PersonVisit } from "../../session/visit.ts";
import { translateCode } from "../../texts/labels.ts";
import { textsOf } from "../../texts/texts.ts";

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
  return {
    title: texts.chooseTitle,
    body: html`<div class="card narrow"><h1>${texts.chooseTitle}</h1>${items.length === 0 ? html`<p>${texts.chooseNone}</p>` : html`<ul class="choices">${items}</ul>`}</div>`,
  };
}

/** What was done before goes on to the page that is shown. */
function doneOf({ request }: PersonVisit): { done?: string } {
  const done = new URLSearchParams(request.url.split("?")[1] ?? "").get("done");
  return done !== null && /^[a-z-]{1,40}$/.test(done) ? { done } : {};
}
