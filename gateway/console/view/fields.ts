// Fields of forms, each with its label, its hint and what is wrong with it, tied together for screen readers.
import { type Html, html } from "../../html.ts";

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** What is wrong with what was typed; empty: nothing. */
  readonly problem?: string;
  readonly required?: boolean;
}

export interface TextFieldParts extends FieldParts {
  readonly value: string;
  readonly type?: "text" | "email" | "url" | "tel" | "password" | "date" | "datetime-local" | "number" | "search";
  readonly autocomplete?: string;
  readonly inputmode?: "numeric" | "decimal" | "email" | "url";
  readonly maxlength?: number;
  readonly placeholder?: string;
}

export function textField(parts: TextFieldParts): Html {
  const { name, value, type = "text", autocomplete = "off", inputmode, maxlength, placeholder } = parts;
  return around(
    parts,
    html`<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${attribute("inputmode", inputmode)}${attribute("maxlength", maxlength)}${attribute("placeholder", placeholder)}${described(parts)}>`,
  );
}

export function textArea(
  parts: FieldParts & { readonly value: string; readonly rows?: number; readonly maxlength?: number },
): Html {
  const { name, value, rows = 4, maxlength } = parts;
  // The first line break of a text area is dropped by browsers.
  return around(
    parts,
    html`<textarea id="${name}" name="${name}" rows="${rows}"${attribute("maxlength", maxlength)}${described(parts)}>
${value}</textarea>`,
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

export function selectField(parts: FieldParts & { readonly value: string; readonly choices: readonly Choice[] }): Html {
  const { name, value, choices } = parts;
  const options = choices.map(
    (choice) =>
      html`<option value="${choice.value}"${choice.value === value ? html` selected` : ""}>${choice.label}</option>`,
  );
  return around(parts, html`<select id="${name}" name="${name}"${described(parts)}>${options}</select>`);
}

/** Boxes to tick, or with `one` a choice of one. */
export function choiceField(
  parts: FieldParts & { readonly values: readonly string[]; readonly choices: readonly Choice[]; readonly one?: true },
): Html {
  const { name, label, hint, problem, values, choices, one } = parts;
  const inputs = choices.map((choice, i) => {
    const id = `${name}-${i}`;
    const checked = values.includes(choice.value) ? html` checked` : "";
    return html`<div class="choice"><input type="${one ? "radio" : "checkbox"}" id="${id}" name="${name}" value="${choice.value}"${checked}>
<label for="${id}">${choice.label}${choice.hint ? html` <span class="hint">${choice.hint}</span>` : ""}</label></div>`;
  });
  return html`<fieldset class="field"><legend>${label}</legend>${hint ? html`<p class="hint">${hint}</p>` : ""}${problem ? html`<p class="problem">${problem}</p>` : ""}${inputs}</fieldset>`;
}

/** One box, whose value is `yes` when it is ticked. */
export function checkField(parts: { readonly name: string; readonly label: string; readonly isOn: boolean }): Html {
  const { name, label, isOn } = parts;
  return html`<div class="choice full"><input type="checkbox" id="${name}" name="${name}" value="yes"${isOn ? html` checked` : ""}>
<label for="${name}">${label}</label></div>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** What is wrong with a form, above it; the script moves the focus here. */
export function problemSummary(
  title: string,
  problems: readonly (readonly [field: string, text: string])[],
): Html | string {
  if (problems.length === 0) return "";
  const items = problems.map(([field, text]) => html`<li><a href="#${field}">${text}</a></li>`);
  return html`<div class="problems" role="alert" tabindex="-1" data-focus><h2>${title}</h2><ul>${items}</ul></div>`;
}

function around({ name, label, hint, problem }: FieldParts, input: Html): Html {
  return html`<div class="field${problem ? " has-problem" : ""}"><label for="${name}">${label}</label>
${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : ""}${problem ? html`<p class="problem" id="${name}-problem">${problem}</p>` : ""}
${input}</div>`;
}

function described({ name, hint, problem, required }: FieldParts): Html {
  const by = [hint ? `${name}-hint` : "", problem ? `${name}-problem` : ""].filter((id) => id !== "").join(" ");
  return html`${attribute("aria-describedby", by || undefined)}${problem ? html` aria-invalid="true"` : ""}${required ? html` required` : ""}`;
}

function attribute(name: string, value: string | number | undefined): Html | string {
  return value === undefined ? "" : html` ${name}="${value}"`;
}
