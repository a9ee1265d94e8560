// Form fields. Each ties its label, hint and problem together for screen readers.
import { type Html, html } from "../../html.ts";

/** Problems of a form by field name; an empty name means the whole form. */
export type Problems = readonly (readonly [field: string, text: string])[];

export function problemOf(problems: Problems, field: string): string {
  return problems.find(([name]) => name === field)?.[1] ?? "";
}

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly problem?: string;
  readonly required?: boolean;
}

interface TextFieldParts extends FieldParts {
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

export function textFields<N extends string>(values: Readonly<Record<N, string>>, problems: Problems) {
  return (name: N, label: string, more: Partial<TextFieldParts> = {}): Html =>
    textField({ name, label, value: values[name], problem: problemOf(problems, name), ...more });
}

export function codeField(parts: FieldParts): Html {
  return textField({ ...parts, value: "", autocomplete: "one-time-code", inputmode: "numeric", required: true });
}

export function textArea(
  parts: FieldParts & { readonly value: string; readonly rows?: number; readonly maxlength?: number },
): Html {
  const { name, value, rows = 4, maxlength } = parts;
  // Browsers drop the first line break of a text area.
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
  return around(
    parts,
    html`<select id="${name}" name="${name}"${described(parts)}>${optionElements(choices, value)}</select>`,
  );
}

export function optionElements(choices: readonly Choice[], chosen: string): readonly Html[] {
  return choices.map(
    ({ value, label }) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`,
  );
}

/** Checkboxes, or with `one` radio buttons. */
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

/** Radio buttons with the values `on` and `off`. */
export function onOffField(
  { isOn, ...parts }: FieldParts & { readonly isOn: boolean },
  { on, off }: { readonly on: string; readonly off: string },
): Html {
  const choices = [
    { value: "on", label: on },
    { value: "off", label: off },
  ];
  return choiceField({ ...parts, values: [isOn ? "on" : "off"], choices, one: true });
}

/** One checkbox with the value `yes`. */
export function checkField(parts: { readonly name: string; readonly label: string; readonly isOn: boolean }): Html {
  const { name, label, isOn } = parts;
  return html`<div class="choice full"><input type="checkbox" id="${name}" name="${name}" value="yes"${isOn ? html` checked` : ""}>
<label for="${name}">${label}</label></div>`;
}

export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Empty for an empty text. */
export function renderAlert(text: string): Html | string {
  return text === "" ? "" : html`<p class="problem" role="alert">${text}</p>`;
}

/** Lists the problems above a form. The script moves the focus here. */
export function problemSummary(title: string, problems: Problems): Html | string {
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
