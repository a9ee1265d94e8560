// The list of payments: one search field, filters as chips in the address, exact totals, pages that repeat and miss
// nothing.
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../docs/html.ts";
import { queryOf } from "../../http/query.ts";
import { merchantPage } from "../../session/routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { paymentTexts } from "../../texts/payments.ts";
import { paymentState, paymentStatuses } from "../../texts/states.ts";
import { chip, filterChips, paging, withFilter } from "../../view/pieces.ts";
import { table } from "../../view/table.ts";
import { count, moment, money } from "../../view/values.ts";

const pageSize = 50;

export function paymentsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments", "payments.read", async (visit) => await paymentsPage(context, visit));
}

async function paymentsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const texts = paymentTexts[visit.language];
  const { merchantId, environment, language, base } = visit;
  const path = `${base}/payments`;
  const query = queryOf(visit);
  const [status, q, afterId] = [query.get("status") ?? "", query.get("q") ?? "", query.get("after") ?? ""];
  const found = await peers.payments.listPayments({ merchantId, environment, limit: pageSize, status, q, afterId });
  const last = found.payments.at(-1)?.id;
  const isFiltered = status !== "" || q !== "";
  const shown = [
    { name: "q", label: texts.query, value: q },
    { name: "status", label: texts.status, value: paymentState(language, status).text },
  ];
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>
${searchForm(visit, path, q, status)}${filterChips(language, path, query, shown)}
${table({
  caption: texts.title,
  rows: found.payments,
  empty: isFiltered ? texts.noneFound : texts.none,
  columns: [
    { heading: texts.amount, isNumber: true, cell: (payment) => amountLink(visit, payment) },
    { heading: texts.status, cell: ({ status: each }) => stateChip(visit, each) },
    { heading: texts.buyer, cell: ({ customerEmail }) => customerEmail },
    { heading: texts.card, cell: ({ card }) => (card ? `${card.brand} ····${card.last4}` : "") },
    { heading: texts.reference, cell: ({ orderReference }) => orderReference },
    { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
  ],
})}
${paging(language, {
  total: texts.total(count(language, found.total)),
  next: found.hasMore && last ? withAfter(path, query, last) : undefined,
  first: afterId === "" ? undefined : withFilter(path, query, {}),
})}`,
  };
}

/** The page behind this payment, with the filters that are on. */
function withAfter(path: string, query: URLSearchParams, after: string): string {
  const next = new URLSearchParams(query);
  next.delete("done");
  next.set("after", after);
  return `${path}?${next.toString()}`;
}

function amountLink({ language, base }: MerchantVisit, { id, amount, currency }: Payment): Html {
  return html`<a href="${base}/payments/${id}">${money(language, amount, currency)}</a>`;
}

function stateChip({ language }: MerchantVisit, status: string): Html {
  const { text, tone } = paymentState(language, status);
  return chip(text, tone);
}

function searchForm({ language }: MerchantVisit, path: string, q: string, status: string): Html {
  const texts = paymentTexts[language];
  const options = ["", ...paymentStatuses].map((each) => {
    const label = each === "" ? texts.anyStatus : paymentState(language, each).text;
    return html`<option value="${each}"${each === status ? html` selected` : ""}>${label}</option>`;
  });
  return html`<form method="get" action="${path}" role="search" class="filters"><label class="visually-hidden" for="q">${texts.search}</label>
<input id="q" name="q" type="search" value="${q}" placeholder="${texts.search}" maxlength="254" data-search>
<label class="visually-hidden" for="status">${texts.status}</label><select id="status" name="status">${options}</select>
<button class="button secondary">${texts.find}</button></form>`;
}
