// The filter form of the payment list. Filters beyond search and status are folded away until one is set.
import { type Html, html } from "../../../../html.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { codeChoices, codesOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { textFields } from "../../../view/fields.ts";
import { filterSelect, searchInput } from "../../../view/filter-form.ts";
import { filterNames, type PaymentFilters } from "./filters.ts";

export function filterForm({ language }: MerchantVisit, path: string, { typed, problems }: PaymentFilters): Html {
  const texts = textsOf(language).payments;
  const isMore = filterNames.some((name) => name !== "q" && name !== "status" && typed[name] !== "");
  const field = textFields(typed, problems);
  const day = { type: "date" } as const;
  const amount = { inputmode: "decimal", maxlength: 20 } as const;
  const choices = codeChoices(language, "paymentStates", codesOf("paymentStates"), texts.anyStatus);
  return html`<form method="get" action="${path}" role="search"><div class="filters">${searchInput({ name: "q", label: texts.search, value: typed.q }, 254)}
${filterSelect({ name: "status", label: texts.status, value: typed.status, choices, isCompact: true })}
<button class="button secondary">${texts.find}</button></div>
<details class="more"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="filter-grid">
${field("from", texts.from, day)}${field("to", texts.to, day)}
${field("captured_from", texts.capturedFrom, day)}${field("captured_to", texts.capturedTo, day)}
${field("min", texts.min, amount)}${field("max", texts.max, amount)}
${field("currency", texts.currency, { maxlength: 3, placeholder: "EUR" })}${field("connector", texts.connector, { maxlength: 64 })}
${field("reference", texts.reference, { maxlength: 100 })}</div><p class="hint">${texts.amountHint} ${texts.days}</p></details></form>`;
}
