// Layouts of the merchants' and operators' screens, a person's own pages and pages without a session. Each shows the
// notice of the last action.
import type { FastifyRequest } from "fastify";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../html.ts";
import { formFields } from "../http/form.ts";
import type { ConsoleContext, MerchantVisit, OperatorVisit, Page, PersonVisit, Visit } from "../session/visit.ts";
import { fillText, type Language, ownTextsOf, pluralText, textsOf } from "../texts/texts.ts";
import { hiddenField } from "../view/fields.ts";
import { countText } from "../view/values.ts";
import { htmlDocument } from "./document.ts";
import { countFailedRefunds } from "./failed-refunds.ts";
import { type Badge, merchantNavigation, operatorNavigation, renderNavigation } from "./navigation.ts";

export function merchantLayout(visit: MerchantVisit, page: Page, context: ConsoleContext): Html {
  const { language, membership, base, request } = visit;
  const texts = textsOf(language).frame;
  const isLive = visit.environment === Environment.LIVE;
  const tone = isLive ? "live" : "sandbox";
  const environmentLabel = isLive ? texts.live : texts.sandbox;
  return htmlDocument({
    language,
    title: `${page.title} · ${membership.merchantName} · ${environmentLabel}`,
    tone,
    header: html`<header class="bar"><a class="brand" href="${base}/home">${membership.merchantName}</a>
<span class="environment" role="group" aria-label="${texts.environment}">${environmentLink(visit, "sandbox", isLive)}${environmentLink(visit, "live", isLive)}</span>
${searchBox(visit)}${personMenu(visit)}</header>`,
    main: columns(language, renderNavigation(merchantNavigation, base, visit, badgesOf(visit, context)), [
      html`${statusWarning(visit)}${notice(language, request)}`,
      page.body,
      zoneNote(visit),
    ]),
  });
}

function searchBox({ base, language, may, request }: MerchantVisit): Html | string {
  if (!may("payments.read")) return "";
  const { label } = textsOf(language).search;
  const query = membersOf(request.query);
  const q = request.url.startsWith(`${base}/search?`) && typeof query.q === "string" ? query.q : "";
  return html`<form class="search-all" method="get" action="${base}/search" role="search" aria-label="${label}"><input name="q" type="search" value="${q}" placeholder="${label}" aria-label="${label}" maxlength="254" autocomplete="off" data-search></form>`;
}

/** Counts next to items of the menu, by path. */
function badgesOf(visit: MerchantVisit, context: ConsoleContext): ReadonlyMap<string, Badge> {
  const count = countFailedRefunds(context, visit);
  const label = pluralText(visit.language, textsOf(visit.language).home.failedRefundsBadge, count);
  return new Map(count === 0n ? [] : [["/refunds", { text: countText(visit.language, count), label }]]);
}

/** The navigation, as a menu on small windows, next to the screen. */
function columns(language: Language, navigation: Html, screen: readonly Html[]): Html {
  return html`<div class="columns"><details class="menu places-menu"><summary>${textsOf(language).frame.navigation}</summary>${navigation}</details>
<div class="places-side">${navigation}</div>
<div class="screen">${screen}</div></div>`;
}

/** Leads to the same section: an object of one environment is unknown in the other. */
function environmentLink({ language, merchantId, request }: MerchantVisit, name: "sandbox" | "live", isLive: boolean) {
  const texts = textsOf(language).frame;
  const isHere = (name === "live") === isLive;
  const section = request.url.split("?")[0]?.split("/")[3] ?? "home";
  const label = name === "live" ? texts.live : texts.sandbox;
  return isHere
    ? html`<strong aria-current="true">${label}</strong>`
    : html`<a href="/${merchantId}/${name}/${section}">${label}</a>`;
}

function zoneNote({ language, timeZone }: Pick<Visit, "language" | "timeZone">): Html {
  const zone = timeZone.replaceAll("_", " ");
  return html`<p class="muted">${fillText(textsOf(language).frame.zone, { zone })}</p>`;
}

function statusWarning({ membership: { merchantStatus }, language }: MerchantVisit): Html | string {
  const texts = textsOf(language).frame;
  if (merchantStatus === "active") return "";
  return html`<p class="warning" role="note">${merchantStatus === "suspended" ? texts.suspended : texts.notActive}</p>`;
}

function personMenu({ language, session, token }: PersonVisit): Html {
  const texts = textsOf(language).frame;
  const { person } = session;
  return html`<details class="menu person-menu"><summary>${person?.name || person?.email || ""}</summary>
<div class="menu-list"><p class="muted">${person?.email ?? ""}</p><a href="/account">${texts.account}</a>
${session.memberships.length > 1 ? html`<a href="/choose">${texts.otherMerchants}</a>` : ""}
<form method="post" action="/sign-out">${hiddenField(formFields.token, token)}<button class="link">${texts.signOut}</button></form></div></details>`;
}

/** The notice with the key `done` of the query; empty for an unknown key. */
function notice(language: Language, request: Pick<FastifyRequest, "query">): Html | string {
  const { done } = membersOf(request.query);
  const text = typeof done === "string" ? noticesOf(language).get(done) : undefined;
  return typeof text === "string" ? html`<p class="notice" role="status">${text}</p>` : "";
}

function noticesOf(language: Language): ReadonlyMap<string, unknown> {
  const { notices, operatorNotices } = ownTextsOf(language);
  return new Map<string, unknown>(Object.entries({ ...notices, ...operatorNotices }));
}

export function personLayout({ config }: Pick<ConsoleContext, "config">, visit: PersonVisit, page: Page): Html {
  return htmlDocument({
    language: visit.language,
    title: page.title,
    tone: config.CONSOLE_DOOR === "operators" ? "operators" : "plain",
    header: html`<header class="bar"><a class="brand" href="/">Tollbooth</a>${personMenu(visit)}</header>`,
    main: html`${notice(visit.language, visit.request)}
${page.body}`,
  });
}

export function operatorLayout(visit: OperatorVisit, page: Page): Html {
  const { language, request } = visit;
  const texts = textsOf(language).frame;
  return htmlDocument({
    language,
    title: `${page.title} · ${texts.operators}`,
    tone: "operators",
    header: html`<header class="bar"><a class="brand" href="/">${texts.operators}</a>${personMenu(visit)}</header>`,
    main: columns(language, renderNavigation(operatorNavigation, "", visit), [
      html`${notice(language, request)}`,
      page.body,
      zoneNote(visit),
    ]),
  });
}

export function entryLayout({ language, request }: Pick<Visit, "language" | "request">, page: Page): Html {
  return htmlDocument({
    language,
    title: page.title,
    tone: "plain",
    header: html`<header class="bar"><a class="brand" href="/">Tollbooth</a></header>`,
    main: html`${notice(language, request)}
${page.body}`,
  });
}
