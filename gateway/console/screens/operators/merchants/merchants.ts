// The merchants of the installation, by status or id.
import { isId } from "#platform/values/id.ts";
import { html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit } from "../../../session/visit.ts";
import { codeChoices, stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { renderAlert } from "../../../view/fields.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { chip, filterChips, pages, renderCopyable } from "../../../view/pieces.ts";
import { table } from "../../../view/table.ts";
import { moment } from "../../../view/values.ts";

const pageSize = 50;
const statuses = ["active", "suspended", "closed", "pending"];

export function merchantsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/merchants", "merchants.read", (visit) => merchantsPage(context, visit));
}

async function merchantsPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Answer> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const query = queryOf(visit);
  const id = (query.get("id") ?? "").trim();
  if (isId("merchant", id)) return { go: `/merchants/${id}` };
  const status = statuses.find((each) => each === query.get("status")) ?? "";
  const pageToken = query.get("page") ?? "";
  const { merchants, nextPageToken } = await peers.merchants.listMerchants({ status, pageSize, pageToken });
  const filters = [
    searchInput({ name: "id", label: texts.idSearch, value: id }),
    filterSelect({
      ...{ name: "status", label: texts.status, value: status, isCompact: true },
      choices: codeChoices(language, "merchantStates", statuses, texts.anyStatus),
    }),
  ];
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>
${filterForm("/merchants", texts.title, textsOf(language).operatorForms.find, filters)}${renderAlert(id === "" ? "" : texts.noSuch)}
${filterChips(language, "/merchants", query, [{ name: "status", label: texts.status, value: stateOf(language, "merchantStates", status).text }])}
${table({
  caption: texts.title,
  rows: merchants,
  empty: status === "" ? texts.none : texts.noneFound,
  columns: [
    { heading: texts.name, cell: ({ id, name }) => html`<a href="/merchants/${id}"><strong>${name}</strong></a>` },
    { heading: "Id", cell: ({ id }) => renderCopyable(language, id) },
    { heading: texts.status, cell: (merchant) => renderMerchantStatus(visit, merchant.status) },
    { heading: texts.country, cell: ({ country }) => country },
    { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
  ],
})}
${pages(language, { path: "/merchants", query, next: nextPageToken, total: merchants.length, cursor: "page" })}`,
  };
}

export function renderMerchantStatus({ language }: Pick<OperatorVisit, "language">, status: string) {
  const { text, tone } = stateOf(language, "merchantStates", status);
  return chip(text, tone);
}
