// The list of payments with search, filters, exact totals, keyset pages, and a CSV export of the same list. Saved views
// keep filters under a name, per person.

import { Failure } from "#platform/values/failure.ts";
import type { SavedView } from "#proto/merchant/v1/people_pb.ts";
import type { ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { formFields } from "../../../http/form.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, problemSummary, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { cursorLinks, filterChips } from "../../../view/pieces.ts";
import { loadSection, renderMissing } from "../../../view/section.ts";
import { exportRoutes } from "./export.ts";
import { filterForm, labelsOf, type PaymentFilters, queryOfFilters, readFilters } from "./filters.ts";
import { paymentTable } from "./table.ts";

const pageSize = 50;

export function paymentsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments", "payments.read", (visit) => paymentsPage(context, visit));
  exportRoutes(context);
  viewRoutes(context, paymentsPage);
}

/** @param problem with the name of a new view */
async function paymentsPage(context: ConsoleContext, visit: MerchantVisit, problem = ""): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).payments;
  const path = `${base}/payments`;
  const query = queryOf(visit);
  const filters = readFilters(query, language);
  const views = viewsOf(context, visit, filters, problem);
  const isWrong = filters.problems.length > 0;
  return {
    title: texts.title,
    status: isWrong || problem !== "" ? 422 : 200,
    body: html`<h1>${texts.title}</h1>
${problemSummary(texts.wrong, filters.problems)}
${filterForm(visit, path, filters)}${filterChips(language, path, query, labelsOf(language, filters.typed))}
${
  isWrong
    ? ""
    : await loadSection(
        language,
        texts.title,
        () => find(context, visit, filters),
        (found) => list(visit, filters, found),
      )
}
${await views}`,
  };
}

async function find({ peers }: ConsoleContext, visit: MerchantVisit, { criteria }: PaymentFilters) {
  const { merchantId, environment } = visit;
  const afterId = queryOf(visit).get("after") ?? "";
  return await peers.payments.listPayments({ merchantId, environment, limit: pageSize, afterId, ...criteria });
}

function list(visit: MerchantVisit, filters: PaymentFilters, found: ListPaymentsResponse): Html {
  const { language, base } = visit;
  const texts = textsOf(language).payments;
  const path = `${base}/payments`;
  const query = queryOf(visit);
  const next = found.hasMore ? found.payments.at(-1)?.id : "";
  const none = filters.isAny ? texts.noneFound : texts.none;
  return html`${paymentTable(visit, texts.title, found.payments, none)}
${cursorLinks(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}${download(visit, filters, found.total)}`;
}

/** The link names the number of payments in the file. */
function download({ base, language, may }: MerchantVisit, { typed }: PaymentFilters, total: bigint): Html | string {
  if (total === 0n || !may("payments.export")) return "";
  const texts = textsOf(language).payments;
  const query = queryOfFilters(typed);
  return html`<p><a class="button secondary" href="${base}/payments.csv${query === "" ? "" : `?${query}`}" download>${fillText(texts.download, { payments: pluralText(language, texts.total, total) })}</a></p>`;
}

const viewList = "payments";
const nameMax = 60;

function viewRoutes(
  context: ConsoleContext,
  show: (context: ConsoleContext, visit: MerchantVisit, problem: string) => Promise<Page>,
): void {
  const { peers } = context;
  // The form's address holds the filters, like the list's.
  merchantForm(context, "/payments", { action: "payments.read" }, async (visit, form) => {
    const { secret: sessionSecret, merchantId, language, base } = visit;
    const query = queryOfFilters(readFilters(queryOf(visit), language).typed);
    const name = form.text("view_name");
    const texts = textsOf(language).payments;
    if (name === "" || name.length > nameMax) return await show(context, visit, texts.viewNameNeeded);
    try {
      await peers.people.saveView({ sessionSecret, merchantId, view: { list: viewList, name, query } });
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
      return await show(context, visit, texts.viewsMany);
    }
    return { go: `${base}/payments?${query}`, done: "view-saved" };
  });
  merchantForm(context, "/payments/views/delete", { action: "payments.read" }, async (visit, form) => {
    const { secret: sessionSecret, merchantId, base } = visit;
    await peers.people.deleteView({ sessionSecret, merchantId, list: viewList, name: form.raw("view_name") });
    return { go: `${base}/payments`, done: "view-deleted" };
  });
}

/** The saved views and the form that saves the current filters. Without an answer the list is shown alone. */
async function viewsOf(
  { peers }: ConsoleContext,
  visit: MerchantVisit,
  { typed, isAny, problems }: PaymentFilters,
  problem: string,
): Promise<Html> {
  const { secret: sessionSecret, merchantId, language } = visit;
  const texts = textsOf(language).payments;
  const found = await peers.people.listSavedViews({ sessionSecret, merchantId, list: viewList }).catch(() => undefined);
  if (!found) return renderMissing(language, texts.views);
  const save = isAny && problems.length === 0 ? saveForm(visit, queryOfFilters(typed), problem) : "";
  if (found.views.length === 0 && save === "") return html``;
  return html`<details class="more"${problem === "" ? "" : html` open`}><summary>${texts.views}</summary>
<ul class="views">${found.views.map((view) => viewItem(visit, view))}</ul>${save}</details>`;
}

function viewItem(visit: MerchantVisit, { name, query }: SavedView): Html {
  const { base, language, token } = visit;
  const label = fillText(textsOf(language).payments.viewDelete, { name });
  return html`<li><a href="${base}/payments?${new URLSearchParams(query).toString()}">${name}</a>
<form method="post" action="${base}/payments/views/delete" class="inline">${hiddenField(formFields.token, token)}${hiddenField("view_name", name)}<button class="copy" aria-label="${label}" title="${label}">×</button></form></li>`;
}

function saveForm(visit: MerchantVisit, query: string, problem: string): Html {
  const texts = textsOf(visit.language).payments;
  const name = { name: "view_name", label: texts.viewName, value: "", maxlength: nameMax, required: true, problem };
  const action = `${visit.base}/payments?${query}`;
  return postForm(visit, { action, fields: [textField(name)], button: texts.viewSave, tone: "secondary" });
}
