// The list of refunds, newest first, with the reason of a failed one.
import { isId } from "#platform/values/id.ts";
import type { ListRefundsResponse, Refund } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayEnd, dayStart } from "../../../http/day.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { codeChoices, stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { optionElements, type Problems, problemSummary, textFields } from "../../../view/fields.ts";
import { cursorLinks, filterChips, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, dayShown, moneyText } from "../../../view/values.ts";

const pageSize = 50;
const statuses = ["pending", "succeeded", "failed", "canceled"] as const;
const names = ["status", "payment", "from", "to"] as const;
type FilterValues = Readonly<Record<(typeof names)[number], string>>;

export function refundsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/refunds", "payments.read", (visit) => refundsPage(context, visit));
}

async function refundsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).refunds;
  const query = queryOf(visit);
  const path = `${base}/refunds`;
  const value = (name: keyof FilterValues) => (query.get(name) ?? "").trim().slice(0, 64);
  const typed = { status: value("status"), payment: value("payment"), from: value("from"), to: value("to") };
  const [from, to] = [dayStart(typed.from), dayEnd(typed.to)];
  const problems: Problems = [
    ...(typed.payment !== "" && !isId("payment", typed.payment) ? [["payment", texts.wrongPayment] as const] : []),
    ...(typed.from !== "" && !from ? [["from", fillText(texts.wrongDay, { field: texts.from })] as const] : []),
    ...(typed.to !== "" && !to ? [["to", fillText(texts.wrongDay, { field: texts.to })] as const] : []),
  ];
  const load = () =>
    peers.payments.listRefunds({
      ...{ merchantId, environment, limit: pageSize, afterId: query.get("after") ?? "" },
      ...{ status: typed.status, paymentId: typed.payment },
      ...(from && { from }),
      ...(to && { to }),
    });
  const shown = [
    { name: "status", label: texts.status, value: stateOf(language, "moneyStates", typed.status).text },
    { name: "payment", label: texts.payment, value: typed.payment },
    { name: "from", label: texts.from, value: dayShown(language, typed.from) },
    { name: "to", label: texts.to, value: dayShown(language, typed.to) },
  ];
  return {
    title: texts.title,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${texts.title}</h1>${problemSummary(texts.wrong, problems)}
${filterForm(visit, path, typed, problems)}${filterChips(language, path, query, shown)}
${problems.length > 0 ? "" : await loadSection(language, texts.title, load, (found) => list(visit, path, query, typed, found))}`,
  };
}

function list(
  visit: MerchantVisit,
  path: string,
  query: URLSearchParams,
  typed: FilterValues,
  found: ListRefundsResponse,
): Html {
  const { language, base } = visit;
  const texts = textsOf(language).refunds;
  const next = found.hasMore ? found.refunds.at(-1)?.id : "";
  const isFiltered = names.some((name) => typed[name] !== "");
  return html`${htmlTable({
    caption: texts.title,
    rows: found.refunds,
    empty: isFiltered ? texts.noneFound : texts.none,
    columns: [
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
      { heading: texts.status, cell: (refund) => stateCell(visit, refund) },
      { heading: texts.reason, cell: ({ reason }) => translateCode(language, "reasons", reason) },
      {
        heading: texts.ofPayment,
        cell: ({ paymentId }) => html`<a href="${base}/payments/${paymentId}">${texts.open}</a>`,
      },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  })}
${cursorLinks(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}`;
}

function stateCell({ language }: MerchantVisit, { status, failureCode, failureMessage }: Refund): Html {
  const { text, tone } = stateOf(language, "moneyStates", status);
  const why = [failureCode === "" ? "" : translateCode(language, "failures", failureCode), failureMessage].filter(
    (each) => each !== "",
  );
  return html`${toneChip(text, tone)}${why.length === 0 ? "" : html`<br><span class="hint">${why.join(": ")}</span>`}`;
}

function filterForm({ language }: MerchantVisit, path: string, typed: FilterValues, problems: Problems): Html {
  const texts = textsOf(language).refunds;
  const choices = codeChoices(language, "moneyStates", statuses, texts.anyStatus);
  const field = textFields(typed, problems);
  return html`<form method="get" action="${path}" class="filter-grid">
<div class="field"><label for="status">${texts.status}</label><select id="status" name="status">${optionElements(choices, typed.status)}</select></div>
${field("from", texts.from, { type: "date" })}${field("to", texts.to, { type: "date" })}
${field("payment", texts.payment, { maxlength: 64 })}
<div class="field"><button class="button secondary">${texts.find}</button></div></form>`;
}
