// The list of refunds, newest first, by order, customer, status and day. A failed one shows why.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isId } from "#platform/values/id.ts";
import type { ListRefundsResponse, Refund } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayEnd, dayStart } from "../../../http/day.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { codeChoices, stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, type Language, pluralText, textsOf } from "../../../texts/texts.ts";
import { type Problems, problemSummary, textFields } from "../../../view/fields.ts";
import { filterSelect, searchInput } from "../../../view/filter-form.ts";
import { addressWith, cursorLinks, filterChips, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, dayShown, moneyText } from "../../../view/values.ts";

const pageSize = 50;
const queryMax = 254;
const referenceMax = 100;
const statuses = ["pending", "succeeded", "failed", "canceled"] as const;
const needsAction = "needs_action";
const names = ["q", "status", "from", "to"] as const;
type FilterValues = Readonly<Record<(typeof names)[number], string>>;

export function refundsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/refunds", "payments.read", (visit) => refundsPage(context, visit));
}

interface RefundFilters {
  readonly typed: FilterValues;
  readonly problems: Problems;
  /** Fields of ListRefundsRequest. */
  readonly criteria: object;
}

export function readRefundFilters(query: URLSearchParams, language: Language): RefundFilters {
  const texts = textsOf(language).refunds;
  const value = (name: keyof FilterValues) => (query.get(name) ?? "").trim().slice(0, queryMax);
  const status = [...statuses, needsAction].find((each) => each === value("status")) ?? "";
  const typed = { q: value("q"), status, from: value("from"), to: value("to") };
  const [from, to] = [dayStart(typed.from), dayEnd(typed.to)];
  const problems: Problems = [
    ...(typed.from !== "" && !from ? [["from", fillText(texts.wrongDay, { field: texts.from })] as const] : []),
    ...(typed.to !== "" && !to ? [["to", fillText(texts.wrongDay, { field: texts.to })] as const] : []),
    ...(from && to && timestampMs(from) > timestampMs(to) ? [["from", texts.wrongRange] as const] : []),
  ];
  const criteria = {
    ...(typed.status === needsAction ? { needsAction: true } : { status: typed.status }),
    ...searchFilter(typed.q),
    ...(from && { from }),
    ...(to && { to }),
  };
  return { typed, problems, criteria };
}

async function refundsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).refunds;
  const query = queryOf(visit);
  const path = `${base}/refunds`;
  const { typed, problems, criteria } = readRefundFilters(query, language);
  const afterId = query.get("after") ?? "";
  const load = () => peers.payments.listRefunds({ merchantId, environment, limit: pageSize, afterId, ...criteria });
  const shown = [
    { name: "q", label: texts.query, value: typed.q },
    { name: "status", label: texts.status, value: statusName(language, typed.status) },
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

/** Refunds of a payment by its id, of a customer by e-mail, else of an order by its number. */
function searchFilter(q: string): { paymentId?: string; customerEmail?: string; orderReference?: string } {
  if (isId("payment", q)) return { paymentId: q };
  return q.includes("@") ? { customerEmail: q } : { orderReference: q.slice(0, referenceMax) };
}

function statusName(language: Language, status: string): string {
  return status === needsAction ? textsOf(language).refunds.needsAction : stateOf(language, "moneyStates", status).text;
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
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ amount, currency, paymentId }) =>
          html`<a href="${base}/payments/${paymentId}">${moneyText(language, amount, currency)}</a>`,
      },
      { heading: texts.status, cell: (refund) => stateCell(visit, refund) },
      { heading: texts.reason, cell: ({ reason }) => translateCode(language, "reasons", reason) },
      { heading: texts.buyer, cell: ({ customerEmail }) => customerEmail },
      { heading: texts.reference, cell: ({ orderReference }) => orderReference },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  })}
${cursorLinks(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}${download(visit, typed, found.total)}`;
}

/** The link names the number of refunds in the file. */
function download({ base, language, may }: MerchantVisit, typed: FilterValues, total: bigint): Html | string {
  if (total === 0n || !may("payments.export")) return "";
  const { refunds, payments } = textsOf(language);
  const text = fillText(payments.download, { payments: pluralText(language, refunds.total, total) });
  return html`<p><a class="button secondary" href="${addressWith(`${base}/refunds.csv`, typed)}" download>${text}</a></p>`;
}

function stateCell({ language }: MerchantVisit, { status, failureCode, failureMessage }: Refund): Html {
  const { text, tone } = stateOf(language, "moneyStates", status);
  const why = failureCode === "" ? failureMessage : translateCode(language, "failures", failureCode);
  if (why === "") return toneChip(text, tone);
  return html`<div>${toneChip(text, tone)}<br><span class="hint">${why}</span></div>`;
}

function filterForm({ language }: MerchantVisit, path: string, typed: FilterValues, problems: Problems): Html {
  const texts = textsOf(language).refunds;
  const choices = [
    ...codeChoices(language, "moneyStates", statuses, texts.anyStatus),
    { value: needsAction, label: texts.needsAction },
  ];
  const field = textFields(typed, problems);
  return html`<form method="get" action="${path}" role="search"><div class="filters">${searchInput({ name: "q", label: texts.search, value: typed.q }, queryMax)}
${filterSelect({ name: "status", label: texts.status, value: typed.status, choices, isCompact: true })}
<button class="button secondary">${texts.find}</button></div>
<details class="more"${typed.from + typed.to === "" ? "" : html` open`}><summary>${textsOf(language).payments.more}</summary><div class="filter-grid">
${field("from", texts.from, { type: "date" })}${field("to", texts.to, { type: "date" })}</div></details></form>`;
}
