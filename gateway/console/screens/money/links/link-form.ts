// The form of a payment link.
import { type Html, html } from "../../../../html.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import {
  checkField,
  hidden,
  type Problems,
  problemOf,
  problemSummary,
  selectField,
  textField,
  textFields,
} from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { lifetimes, type TypedLine, type TypedLink } from "./link-input.ts";

/** @param locales languages of the payment page, by tag and name */
export function linkForm(
  visit: MerchantVisit,
  { lines, ...typed }: TypedLink,
  key: string,
  problems: Problems,
  locales: readonly (readonly [tag: string, name: string])[],
): Html {
  const { language, base } = visit;
  const texts = textsOf(language).links;
  const field = textFields(typed, problems);
  const localeChoices = [{ value: "", label: texts.automatic }, ...locales.map(([value, label]) => ({ value, label }))];
  const captureChoices = [
    { value: "automatic", label: texts.captureAutomatic },
    { value: "manual", label: texts.captureManual },
  ];
  const form = postForm(visit, {
    action: `${base}/links/new`,
    fields: [
      hidden(onceField, key),
      html`<div class="pair">${field("amount", texts.amount, { inputmode: "decimal", maxlength: 20, hint: texts.amountHint })}
${field("currency", texts.currency, { maxlength: 3, required: true, hint: texts.currencyHint })}</div>`,
      field("reference", texts.reference, { maxlength: 100, hint: texts.referenceHint }),
      field("description", texts.description, { maxlength: 255, hint: texts.descriptionHint }),
      field("email", texts.email, { type: "email", maxlength: 254 }),
      checkField({ name: "mail", label: texts.sendByMail, isOn: typed.mail !== "" }),
      lineFields(visit, lines, problems),
      html`<div class="pair">${lifetimeField(visit, typed.expires)}
${selectField({ name: "locale", label: texts.language, value: typed.locale, choices: localeChoices })}</div>`,
      selectField({ name: "capture", label: texts.capture, value: typed.capture, choices: captureChoices }),
    ],
    button: texts.create,
    link: html`<a href="${base}/links">${texts.back}</a>`,
  });
  return html`${problemSummary(texts.wrong, problems)}
${form}`;
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

function lineFields({ language }: MerchantVisit, lines: readonly TypedLine[], problems: Problems): Html {
  const texts = textsOf(language).links;
  const isOpen = lines.some(({ name, amount }) => name !== "" || amount !== "");
  const rows = lines.map(({ name, quantity, amount }, i) => {
    const problem = problemOf(problems, `item_name_${i}`);
    return html`<fieldset class="line${problem === "" ? "" : " has-problem"}"><legend>${fill(texts.item, { number: String(i + 1) })}</legend>
${textField({ name: `item_name_${i}`, label: texts.itemName, value: name, maxlength: 200, problem })}
${textField({ name: `item_quantity_${i}`, label: texts.itemQuantity, value: quantity, inputmode: "numeric", maxlength: 4 })}
${textField({ name: `item_amount_${i}`, label: texts.itemAmount, value: amount, inputmode: "decimal", maxlength: 20 })}</fieldset>`;
  });
  return html`<details class="more full"${isOpen ? html` open` : ""}><summary>${texts.items}</summary><p class="hint">${texts.itemsHint}</p>${rows}</details>`;
}
