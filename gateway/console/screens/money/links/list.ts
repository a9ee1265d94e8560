// Payment links and checkouts, newest first. The list shows no link, because a link's secret is shown once.
import type { ListSessionsResponse } from "#proto/checkout/v1/checkout_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { searchOf } from "../../../../json/parts/input.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { codeChoices, stateOf } from "../../../texts/labels.ts";
import { pluralText, textsOf } from "../../../texts/texts.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { filterChips, pages } from "../../../view/pieces.ts";
import { section } from "../../../view/section.ts";
import { table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";
import { createRoutes } from "./create.ts";
import { linkRoutes, sessionState } from "./link.ts";

const pageSize = 50;
const statuses = ["open", "processing", "completed", "expired", "canceled"] as const;

export function linksRoutes(context: ConsoleContext): void {
  merchantPage(context, "/links", "payments.read", (visit) => linksPage(context, visit));
  createRoutes(context);
  linkRoutes(context);
}

async function linksPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment, may } = visit;
  const texts = textsOf(language).links;
  const query = queryOf(visit);
  const path = `${base}/links`;
  const q = (query.get("q") ?? "").trim().slice(0, 254);
  const status = statuses.find((each) => each === query.get("status")) ?? "";
  const afterId = query.get("after") ?? "";
  const found = () =>
    peers.checkout.listSessions({ merchantId, environment, limit: pageSize, afterId, q: searchOf(q), status });
  const shown = [
    { name: "q", label: texts.query, value: q },
    { name: "status", label: texts.status, value: stateOf(language, "moneyStates", status).text },
  ];
  const filters = [
    searchInput({ name: "q", label: texts.search, value: q }, 254),
    filterSelect({
      ...{ name: "status", label: texts.status, value: status, isCompact: true },
      choices: codeChoices(language, "moneyStates", statuses, texts.anyStatus),
    }),
  ];
  const create = may("links.write") ? html`<a class="button" href="${path}/new">${texts.newTitle}</a>` : "";
  return {
    title: texts.title,
    body: html`<div class="heading"><h1>${texts.title}</h1>${create}</div><p class="muted">${texts.intro}</p>
${filterForm(path, texts.title, texts.find, filters)}${filterChips(language, path, query, shown)}
${await section(language, texts.title, found, (answer) => list(visit, path, query, q !== "" || status !== "", answer))}`,
  };
}

function list(
  visit: MerchantVisit,
  path: string,
  query: URLSearchParams,
  isFiltered: boolean,
  found: ListSessionsResponse,
): Html {
  const { language } = visit;
  const texts = textsOf(language).links;
  const next = found.hasMore ? found.sessions.at(-1)?.id : "";
  return html`${table({
    caption: texts.title,
    rows: found.sessions,
    empty: isFiltered ? texts.noneFound : texts.none,
    columns: [
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ id, amount, currency }) => html`<a href="${path}/${id}">${money(language, amount, currency)}</a>`,
      },
      { heading: texts.status, cell: (session) => sessionState(language, session) },
      { heading: texts.reference, cell: ({ orderReference }) => orderReference },
      { heading: texts.email, cell: ({ customerEmail }) => customerEmail },
      {
        heading: texts.expiresAt,
        cell: (session) => (session.status === "open" ? moment(language, session.expiresAt) : ""),
      },
      { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
    ],
  })}
${pages(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}`;
}
