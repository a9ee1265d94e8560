// Pages of a merchant: whose and in which environment stands in the head of each, with the way to the other one.

import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../docs/html.ts";
import type { MerchantVisit, Page } from "../session/visit.ts";
import { frameTexts } from "../texts/frame.ts";
import { document } from "./document.ts";
import { merchantPlaces, navigation } from "./navigation.ts";
import { notice } from "./notice.ts";
import { personMenu } from "./person-menu.ts";

export function merchantLayout(visit: MerchantVisit, page: Page): Html {
  const { language, membership, base, request } = visit;
  const texts = frameTexts[language];
  const isLive = visit.environment === Environment.LIVE;
  const tone = isLive ? "live" : "sandbox";
  const word = isLive ? texts.live : texts.sandbox;
  return document({
    language,
    title: `${page.title} · ${membership.merchantName} · ${word}`,
    tone,
    header: html`<header class="bar"><a class="brand" href="${base}/home">${membership.merchantName}</a>
<span class="environment" role="group" aria-label="${texts.environment}">${environmentLink(visit, "sandbox", isLive)}${environmentLink(visit, "live", isLive)}</span>
${personMenu(visit)}</header>`,
    main: html`<div class="columns"><details class="menu places-menu"><summary>${texts.navigation}</summary>${navigation(merchantPlaces, base, visit)}</details>
<div class="places-side">${navigation(merchantPlaces, base, visit)}</div>
<div class="screen">${standing(visit)}${notice(language, request)}
${page.body}</div></div>`,
  });
}

/** The same place in the environment; an object of one is unknown in the other, so of those the list. */
function environmentLink({ language, merchantId, request }: MerchantVisit, name: "sandbox" | "live", isLive: boolean) {
  const texts = frameTexts[language];
  const isHere = (name === "live") === isLive;
  const place = request.url.split("?")[0]?.split("/")[3] ?? "home";
  const label = name === "live" ? texts.live : texts.sandbox;
  return isHere
    ? html`<strong aria-current="true">${label}</strong>`
    : html`<a href="/${merchantId}/${name}/${place}">${label}</a>`;
}

function standing({ membership: { merchantStatus }, language }: MerchantVisit): Html | string {
  const texts = frameTexts[language];
  if (merchantStatus === "active") return "";
  return html`<p class="warning" role="note">${merchantStatus === "suspended" ? texts.suspended : texts.notActive}</p>`;
}
