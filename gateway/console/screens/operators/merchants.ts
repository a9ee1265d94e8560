// The merchants of the installation.
import { html } from "../../../docs/html.ts";
import { queryOf } from "../../http/query.ts";
import { operatorPage } from "../../session/routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../session/visit.ts";
import { operatorTexts } from "../../texts/operators.ts";
import { chip, copyable, paging } from "../../view/pieces.ts";
import { table } from "../../view/table.ts";
import { count, moment } from "../../view/values.ts";

const pageSize = 50;

export function merchantsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/merchants", "merchants.read", async (visit) => await merchantsPage(context, visit));
}

async function merchantsPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = operatorTexts[language];
  const pageToken = queryOf(visit).get("page") ?? "";
  const { merchants, nextPageToken } = await peers.merchants.listMerchants({ pageSize, pageToken });
  return {
    title: texts.merchants,
    body: html`<h1>${texts.merchants}</h1>
${table({
  caption: texts.merchants,
  rows: merchants,
  empty: texts.noMerchants,
  columns: [
    { heading: texts.merchant, cell: ({ id, name }) => html`<strong>${name}</strong><br>${copyable(language, id)}` },
    { heading: texts.status, cell: ({ status }) => chip(status, status === "active" ? "good" : "quiet") },
    { heading: texts.country, cell: ({ country }) => country },
    { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
  ],
})}
${paging(language, {
  total: texts.total(count(language, merchants.length)),
  next: nextPageToken === "" ? undefined : `/merchants?${new URLSearchParams({ page: nextPageToken }).toString()}`,
  first: pageToken === "" ? undefined : "/merchants",
})}`,
  };
}
