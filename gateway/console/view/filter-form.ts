// The filters of a list: a form by GET, so that what is chosen stands in the address; small fields side by side.
import { type Html, html } from "../../html.ts";
import type { Choice } from "./fields.ts";

interface SmallField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

export function filterSelect({
  name,
  label,
  value,
  choices,
}: SmallField & { readonly choices: readonly Choice[] }): Html {
  const options = choices.map(
    (choice) =>
      html`<option value="${choice.value}"${choice.value === value ? html` selected` : ""}>${choice.label}</option>`,
  );
  return html`<div class="filter"><label for="${name}">${label}</label><select id="${name}" name="${name}">${options}</select></div>`;
}

export function filterInput(
  field: SmallField & { readonly type: "date" | "text"; readonly placeholder?: string; readonly maxlength?: number },
): Html {
  const { name, label, value, type, placeholder = "", maxlength = 100 } = field;
  return html`<div class="filter"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value}" placeholder="${placeholder}" maxlength="${maxlength}"></div>`;
}

export function filterForm(path: string, label: string, button: string, fields: readonly Html[]): Html {
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${label}">${fields}<button class="button secondary">${button}</button></form>`;
}
