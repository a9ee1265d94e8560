// The form of the filters: the search stands open, the rest is a click away, and open while one of it is set.
import { type Html, html } from "../../../../html.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { codesOf, stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { type TextFieldParts, textField } from "../../../view/fields.ts";
import { type FilterName, filterNames, type PaymentFilters } from "./filters.ts";

export function filterForm(visit: MerchantVisit, path: string, { typed, problems }: PaymentFilters): Html {
  const texts = textsOf(visit.language).payments;
  const isMore = filterNames.some((name) => name !== "q" && name !== "status" && typed[name] !== "");
  const field = (name: FilterName, label: string, more: Partial<TextFieldParts> = {}) =>
    textField({ name, label, value: typed[name], problem: problems.find(([at]) => at === name)?.[1] ?? "", ...more });
  const day = { type: "date" } as const;
  const amount = { inputmode: "decimal", maxlength: 20 } as const;
  return html`<form method="get" action="${path}" role="search"><div class="filters"><label class="visually-hidden" for="q">${texts.search}</label>
<input id="q" name="q" type="search" value="${typed.q}" placeholder="${texts.search}" maxlength="254" data-search>
<label class="visually-hidden" for="status">${texts.status}</label><select id="status" name="status">${statusOptions(visit, typed.status)}</select>
<button class="button secondary">${texts.find}</button></div>
<details class="more"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="filter-grid">
${field("from", texts.from, day)}${field("to", texts.to, day)}
${field("captured_from", texts.capturedFrom, day)}${field("captured_to", texts.capturedTo, day)}
${field("min", texts.min, amount)}${field("max", texts.max, amount)}
${field("currency", texts.currency, { maxlength: 3, placeholder: "EUR" })}${field("connector", texts.connector, { maxlength: 64 })}
${field("reference", texts.reference, { maxlength: 100 })}</div><p class="hint">${texts.amountHint} ${texts.days}</p></details></form>`;
}

function statusOptions({ language }: MerchantVisit, status: string): readonly Html[] {
  return ["", ...codesOf("paymentStates")].map((each) => {
    const label = each === "" ? textsOf(language).payments.anyStatus : stateOf(language, "paymentStates", each).text;
    return html`<option value="${each}"${each === status ? html` selected` : ""}>${label}</option>`;
  });
}
