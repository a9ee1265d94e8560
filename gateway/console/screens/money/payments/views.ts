// Saved views of the payment list: filters under a name, per person.
import { Failure } from "#platform/values/failure.ts";
import type { SavedView } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { formFields } from "../../../http/form.ts";
import { merchantForm } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { renderMissing } from "../../../view/section.ts";
import { type PaymentFilters, queryOfFilters, readFilters } from "./filters.ts";

const list = "payments";
const nameMax = 60;

export function viewRoutes(
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
      await peers.people.saveView({ sessionSecret, merchantId, view: { list, name, query } });
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
      return await show(context, visit, texts.viewsMany);
    }
    return { go: `${base}/payments?${query}`, done: "view-saved" };
  });
  merchantForm(context, "/payments/views/delete", { action: "payments.read" }, async (visit, form) => {
    const { secret: sessionSecret, merchantId, base } = visit;
    await peers.people.deleteView({ sessionSecret, merchantId, list, name: form.raw("view_name") });
    return { go: `${base}/payments`, done: "view-deleted" };
  });
}

/** The saved views and the form that saves the current filters. Without an answer the list is shown alone. */
export async function viewsOf(
  { peers }: ConsoleContext,
  visit: MerchantVisit,
  { typed, isAny, problems }: PaymentFilters,
  problem: string,
): Promise<Html> {
  const { secret: sessionSecret, merchantId, language } = visit;
  const texts = textsOf(language).payments;
  const found = await peers.people.listSavedViews({ sessionSecret, merchantId, list }).catch(() => undefined);
  if (!found) return renderMissing(language, texts.views);
  const save = isAny && problems.length === 0 ? saveForm(visit, queryOfFilters(typed), problem) : "";
  if (found.views.length === 0 && save === "") return html``;
  return html`<details class="more"${problem === "" ? "" : html` open`}><summary>${texts.views}</summary>
<ul class="views">${found.views.map((view) => item(visit, view))}</ul>${save}</details>`;
}

function item(visit: MerchantVisit, { name, query }: SavedView): Html {
  const { base, language, token } = visit;
  const label = fill(textsOf(language).payments.viewDelete, { name });
  return html`<li><a href="${base}/payments?${new URLSearchParams(query).toString()}">${name}</a>
<form method="post" action="${base}/payments/views/delete" class="inline">${hidden(formFields.token, token)}${hidden("view_name", name)}<button class="copy" aria-label="${label}" title="${label}">×</button></form></li>`;
}

function saveForm(visit: MerchantVisit, query: string, problem: string): Html {
  const texts = textsOf(visit.language).payments;
  const name = { name: "view_name", label: texts.viewName, value: "", maxlength: nameMax, required: true, problem };
  const action = `${visit.base}/payments?${query}`;
  return postForm(visit, { action, fields: [textField(name)], button: texts.viewSave, tone: "secondary" });
}
