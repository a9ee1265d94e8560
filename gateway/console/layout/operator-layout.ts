// Pages of the operators' console.
import { type Html, html } from "../../docs/html.ts";
import type { OperatorVisit, Page } from "../session/visit.ts";
import { frameTexts } from "../texts/frame.ts";
import { document } from "./document.ts";
import { navigation, operatorPlaces } from "./navigation.ts";
import { notice } from "./notice.ts";
import { personMenu } from "./person-menu.ts";

export function operatorLayout(visit: OperatorVisit, page: Page): Html {
  const { language, request } = visit;
  const texts = frameTexts[language];
  return document({
    language,
    title: `${page.title} · ${texts.operators}`,
    tone: "operators",
    header: html`<header class="bar"><a class="brand" href="/">${texts.operators}</a>${personMenu(visit)}</header>`,
    main: html`<div class="columns"><details class="menu places-menu"><summary>${texts.navigation}</summary>${navigation(operatorPlaces, "", visit)}</details>
<div class="places-side">${navigation(operatorPlaces, "", visit)}</div>
<div class="screen">${notice(language, request)}
${page.body}</div></div>`,
  });
}
