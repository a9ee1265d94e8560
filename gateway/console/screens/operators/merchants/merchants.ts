// The merchants of the installation, by status, or one of them by its id.
import { isId } from "#platform/values/id.ts";
import { html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { chip, filterChips, pages, renderCopyable } from "../../../view/pieces.ts";
import { table } from "../../../view/table.ts";
import { moment } from "../../../view/values.ts";

const pageSize = 50;
const statuses = ["active", "suspended", "closed", "pending"];

export function merchantsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/merchants", "merchants.read", async (visit) => await merchantsPage(context, visit));
}

async function merchantsPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Answer> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const query = queryOf(visit);
  const wanted = (query.get("id") ?? "").trim();
  if (isId("merchant", wanted)) return { go: `/merchants/${wanted}` };
  const status = statuses.find((each) => each === query.get("status")) ?? "";
  const pageToken = query.get("page") ?? "";
  const { merchants, nextPageToken } = await peers.merchants.listMerchants({ status, pageSize, pageToken });
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>
${searchForm(visit, status, wanted)}${wanted === "" ? "" : html`<p class="problem" role="alert">${texts.noSuch}</p>`}
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

/** As a chip. */
export function renderMerchantStatus({ language }: Pick<OperatorVisit, "language">, status: string) {
  const { text, tone } = stateOf(language, "merchantStates", status);
  return chip(text, tone);
}

function searchForm({ language }: OperatorVisit, status: string, id: string) {
  const texts = textsOf(language).merchants;
  const options = ["", ...statuses].map((each) => {
    const label = each === "" ? texts.anyStatus : stateOf(language, "merchantStates", each).text;
    return html`<option value="${each}"${each === status ? html` selected` : ""}>${label}</option>`;
  });
  return html`<form method="get" action="/merchants" role="search" class="filters"><label class="visually-hidden" for="id">${texts.idSearch}</label>
<input id="id" name="id" type="search" value="${id}" placeholder="${texts.idSearch}" maxlength="64" data-search>
<label class="visually-hidden" for="status">${texts.status}</label><select id="status" name="status">${options}</select>
<button class="button secondary">${textsOf(language).operatorForms.find}</button></form>`;
}
