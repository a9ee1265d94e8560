// The form of a payment link, with all that was typed and what is wrong with it.
import { type Html, html } from "../../../../html.ts";
import { formFields } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { checkField, hidden, problemSummary, selectField, textField } from "../../../view/fields.ts";
import { type LinkProblems, lifetimes, type TypedLine, type TypedLink } from "./link-input.ts";

/** @param locales languages of the payment page with their own names */
export function linkForm(
  visit: MerchantVisit,
  typed: TypedLink,
  key: string,
  problems: LinkProblems,
  locales: readonly (readonly [tag: string, name: string])[],
): Html {
  const { language, token, base } = visit;
  const texts = textsOf(language).links;
  const field = (name: keyof Omit<TypedLink, "lines">, label: string, more: object = {}) =>
    textField({ name, label, value: typed[name], problem: problemAt(problems, name), ...more });
  return html`${problemSummary(texts.wrong, problems)}
<form method="post" action="${base}/links/new">${hidden(formFields.token, token)}${hidden(onceField, key)}
<div class="pair">${field("amount", texts.amount, { inputmode: "decimal", maxlength: 20, hint: texts.amountHint })}
${field("currency", texts.currency, { maxlength: 3, required: true, hint: texts.currencyHint })}</div>
${field("reference", texts.reference, { maxlength: 100, hint: texts.referenceHint })}
${field("description", texts.description, { maxlength: 255, hint: texts.descriptionHint })}
${field("email", texts.email, { type: "email", maxlength: 254 })}
${checkField({ name: "mail", label: texts.sendByMail, isOn: typed.mail !== "" })}
${lineFields(visit, typed.lines, problems)}
<div class="pair">${lifetimeField(visit, typed.expires)}
${selectField({
  name: "locale",
  label: texts.language,
  value: typed.locale,
  choices: [{ value: "", label: texts.asBrowser }, ...locales.map(([value, label]) => ({ value, label }))],
})}</div>
${selectField({
  name: "capture",
  label: texts.capture,
  value: typed.capture,
  choices: [
    { value: "automatic", label: texts.captureAutomatic },
    { value: "manual", label: texts.captureManual },
  ],
})}
<div class="actions"><button class="button">${texts.make}</button><a href="${base}/links">${texts.back}</a></div></form>`;
}

function lifetimeField({ language }: MerchantVisit, value: string): Html {
  const texts = textsOf(language).links;
  const days = (seconds: number) => fill(texts.days, { count: String(seconds / 86_400) });
  const choices = lifetimes.map((seconds) => ({
    value: String(seconds),
    label: seconds === 3_600 ? texts.hour : seconds === 86_400 ? texts.day : days(seconds),
  }));
  return selectField({ name: "expires", label: texts.expires, value, choices });
}

function lineFields({ language }: MerchantVisit, lines: readonly TypedLine[], problems: LinkProblems): Html {
  const texts = textsOf(language).links;
  const isOpen = lines.some(({ name, amount }) => name !== "" || amount !== "");
  const rows = lines.map(({ name, quantity, amount }, i) => {
    const problem = problemAt(problems, `item_name_${i}`);
    return html`<fieldset class="line${problem === "" ? "" : " has-problem"}"><legend>${fill(texts.item, { number: String(i + 1) })}</legend>
${textField({ name: `item_name_${i}`, label: texts.itemName, value: name, maxlength: 200, problem })}
${textField({ name: `item_quantity_${i}`, label: texts.itemQuantity, value: quantity, inputmode: "numeric", maxlength: 4 })}
${textField({ name: `item_amount_${i}`, label: texts.itemAmount, value: amount, inputmode: "decimal", maxlength: 20 })}</fieldset>`;
  });
  return html`<details class="more full"${isOpen ? html` open` : ""}><summary>${texts.items}</summary><p class="hint">${texts.itemsHint}</p>${rows}</details>`;
}

function problemAt(problems: LinkProblems, field: string): string {
  return problems.find(([at]) => at === field)?.[1] ?? "";
}
