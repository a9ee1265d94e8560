// The home screen: figures, what needs attention, and the steps to go live, each loaded separately.
import { html } from "../../../../html.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { section } from "../../../view/section.ts";
import { renderAttention } from "./attention.ts";
import { renderChecklist } from "./checklist.ts";
import { overviewDays, renderFigures } from "./figures.ts";

export function homeRoutes(context: ConsoleContext): void {
  merchantPage(context, "/home", undefined, (visit) => homePage(context, visit));
}

async function homePage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, merchantId, environment, may } = visit;
  const texts = textsOf(language).home;
  const overview = () => context.peers.payments.getOverview({ merchantId, environment, days: overviewDays });
  const [figures, attention, checklist] = await Promise.all([
    may("payments.read") ? section(language, texts.figures, overview, (found) => renderFigures(visit, found)) : "",
    renderAttention(context, visit),
    renderChecklist(context, visit),
  ]);
  return { title: texts.title, body: html`<h1>${texts.title}</h1>${attention}${figures}${checklist}` };
}
