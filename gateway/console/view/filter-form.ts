// Filters of a list: a form by GET, which keeps the choices in the address.
import { type Html, html } from "../../html.ts";
import { type Choice, optionElements } from "./fields.ts";

interface FilterParts {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** @param parts `isCompact`: only screen readers get the label */
export function filterSelect(
  parts: FilterParts & { readonly choices: readonly Choice[]; readonly isCompact?: true },
): Html {
  const { name, label, value, choices, isCompact } = parts;
  const select = html`<select id="${name}" name="${name}">${optionElements(choices, value)}</select>`;
  return isCompact
    ? html`<label class="visually-hidden" for="${name}">${label}</label>${select}`
    : html`<div class="filter"><label for="${name}">${label}</label>${select}</div>`;
}

export function filterInput(
  field: FilterParts & { readonly type: "date" | "text"; readonly placeholder?: string; readonly maxlength?: number },
): Html {
  const { name, label, value, type, placeholder = "", maxlength = 64 } = field;
  return html`<div class="filter"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value}" placeholder="${placeholder}" maxlength="${maxlength}"></div>`;
}

/** The main search field of a list, which the script focuses on `/`. */
export function searchInput({ name, label, value }: FilterParts, maxlength = 64): Html {
  return html`<label class="visually-hidden" for="${name}">${label}</label>
<input id="${name}" name="${name}" type="search" value="${value}" placeholder="${label}" maxlength="${maxlength}" data-search>`;
}

export function filterForm(path: string, label: string, button: string, fields: readonly Html[]): Html {
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${label}">${fields}<button class="button secondary">${button}</button></form>`;
}
