// The form of a payment link, and reading it into an order for checkout or a list of its problems.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { buyerEmail } from "#platform/values/email.ts";
import { amountMax, currencyExponent } from "#platform/values/money.ts";
import type { CreateSessionRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { type Form, isLine, isText } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import {
  checkField,
  hiddenField,
  type Problems,
  problemOf,
  problemSummary,
  selectField,
  textField,
  textFields,
} from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { minorUnits, moneyText } from "../../../view/values.ts";

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
      hiddenField(onceField, key),
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
  const days = (seconds: number) => fillText(texts.days, { count: String(seconds / 86_400) });
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
    return html`<fieldset class="line${problem === "" ? "" : " has-problem"}"><legend>${fillText(texts.item, { number: String(i + 1) })}</legend>
${textField({ name: `item_name_${i}`, label: texts.itemName, value: name, maxlength: 200, problem })}
${textField({ name: `item_quantity_${i}`, label: texts.itemQuantity, value: quantity, inputmode: "numeric", maxlength: 4 })}
${textField({ name: `item_amount_${i}`, label: texts.itemAmount, value: amount, inputmode: "decimal", maxlength: 20 })}</fieldset>`;
  });
  return html`<details class="more full"${isOpen ? html` open` : ""}><summary>${texts.items}</summary><p class="hint">${texts.itemsHint}</p>${rows}</details>`;
}

export const lineCount = 10;
const quantityMax = 9_999;
const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400] as const;

interface TypedLine {
  readonly name: string;
  readonly quantity: string;
  readonly amount: string;
}

export interface TypedLink {
  readonly amount: string;
  readonly currency: string;
  readonly reference: string;
  readonly description: string;
  readonly email: string;
  /** `yes` to email the link. */
  readonly mail: string;
  readonly expires: string;
  readonly locale: string;
  readonly capture: string;
  readonly lines: readonly TypedLine[];
}

type Order = Omit<
  MessageInitShape<typeof CreateSessionRequestSchema>,
  "$typeName" | "merchantId" | "environment" | "idempotency"
>;

export function typedLink(form: Form): TypedLink {
  const lines = Array.from({ length: lineCount }, (_, i) => ({
    name: form.text(`item_name_${i}`),
    quantity: form.text(`item_quantity_${i}`),
    amount: form.text(`item_amount_${i}`),
  }));
  return {
    ...{ amount: form.text("amount"), currency: form.text("currency"), reference: form.text("reference") },
    ...{ description: form.text("description"), email: form.text("email"), expires: form.text("expires") },
    mail: form.text("mail"),
    ...{ locale: form.text("locale"), capture: form.text("capture"), lines },
  };
}

/** @param locales languages of the payment page */
export function readLink(
  typed: TypedLink,
  language: Language,
  locales: readonly string[],
): { readonly problems: Problems } | { readonly order: Order; readonly problems: readonly [] } {
  const texts = textsOf(language).links;
  const currency = typed.currency.toUpperCase();
  const problems: [string, string][] = [];
  if (currencyExponent(currency) === undefined) problems.push(["currency", texts.currencyWrong]);
  const lineItems =
    problems.length === 0
      ? readLines(typed.lines, currency, (number) => fillText(texts.itemWrong, { number }), problems)
      : [];
  const sum = lineItems.reduce((all, line) => all + line.amount, 0n);
  const total = typed.amount === "" && lineItems.length > 0 ? sum : minorUnits(typed.amount, currency);
  if (total === undefined || total < 1n || total > amountMax) problems.push(["amount", texts.amountWrong]);
  else if (lineItems.length > 0 && total !== sum)
    problems.push(["amount", fillText(texts.amountDiffers, { sum: moneyText(language, sum, currency) })]);
  if (!isLine(typed.reference, 100))
    problems.push(["reference", fillText(texts.textWrong, { field: texts.reference })]);
  if (!isText(typed.description, 255))
    problems.push(["description", fillText(texts.textWrong, { field: texts.description })]);
  const needsEmail = typed.email !== "" || typed.mail !== "";
  const email = needsEmail ? buyerEmail(typed.email) : "";
  if (email === undefined) problems.push(["email", texts.emailWrong]);
  if (problems.length > 0 || total === undefined || email === undefined) return { problems };
  const expiresInSeconds = lifetimes.find((each) => String(each) === typed.expires) ?? 86_400;
  return {
    problems: [],
    order: {
      ...{ amount: total, currency, description: typed.description, customerEmail: email, expiresInSeconds },
      ...{ orderReference: typed.reference, lineItems },
      locale: locales.find((each) => each === typed.locale) ?? "",
      captureMethod: typed.capture === "manual" ? "manual" : "automatic",
    },
  };
}

/** Lines that are not empty. Adds a problem for each invalid one. */
function readLines(
  lines: readonly TypedLine[],
  currency: string,
  wrongText: (number: number) => string,
  problems: [string, string][],
): { name: string; quantity: number; amount: bigint }[] {
  return lines.flatMap((line, i) => {
    // The form fills in the quantity of empty lines.
    if (line.name === "" && line.amount === "") return [];
    const isNegative = /^[-−]/.test(line.amount);
    const amount = minorUnits(isNegative ? line.amount.slice(1) : line.amount, currency);
    const quantity = /^\d{1,4}$/.test(line.quantity) ? Number(line.quantity) : 0;
    const isName = line.name !== "" && isLine(line.name, 200);
    if (!isName || amount === undefined || amount > amountMax || quantity < 1 || quantity > quantityMax) {
      problems.push([`item_name_${i}`, wrongText(i + 1)]);
      return [];
    }
    return [{ name: line.name, quantity, amount: isNegative ? -amount : amount }];
  });
}
