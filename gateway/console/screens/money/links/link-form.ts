// The form of a payment link, and reading it into an order for checkout or a list of its problems. A link is for one
// payment or reusable; the style sheet hides the fields of the other kind, and what they hold is left out.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { buyerEmail } from "#platform/values/email.ts";
import { amountMax as amountLimit, currencyExponent } from "#platform/values/money.ts";
import type { CreatePaymentLinkRequestSchema } from "#proto/checkout/v1/links_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { type Form, isLine, isText } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import {
  checkField,
  choiceField,
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
      choiceField({
        ...{ name: "kind", label: texts.kind, values: [typed.kind], one: true },
        choices: [
          { value: "single", label: texts.single, hint: texts.singleHint },
          { value: "reusable", label: texts.reusable, hint: texts.reusableHint },
        ],
      }),
      html`<div class="of-reusable full">${choiceField({
        ...{ name: "pricing", label: texts.pricing, values: [typed.pricing], one: true },
        choices: [
          { value: "fixed", label: texts.fixed },
          { value: "chosen", label: texts.chosen },
        ],
      })}</div>`,
      field("currency", texts.currency, { maxlength: 3, required: true, hint: texts.currencyHint }),
      html`<div class="of-fixed full">${field("amount", texts.amount, { inputmode: "decimal", maxlength: 20, hint: texts.amountHint })}</div>`,
      html`<div class="pair of-chosen">${field("least", texts.least, { inputmode: "decimal", maxlength: 20 })}
${field("most", texts.most, { inputmode: "decimal", maxlength: 20 })}</div>`,
      html`<div class="of-reusable full">${field("stock", texts.stock, { inputmode: "numeric", maxlength: 6, hint: texts.stockHint })}</div>`,
      field("description", texts.description, { maxlength: 255, hint: texts.descriptionHint }),
      field("reference", texts.reference, { maxlength: 100, hint: texts.referenceHint }),
      html`<div class="of-single full">${field("email", texts.email, { type: "email", maxlength: 254 })}
${checkField({ name: "mail", label: texts.sendByMail, isOn: typed.mail !== "" })}</div>`,
      html`<div class="of-fixed full">${lineFields(visit, lines, problems)}</div>`,
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
    label: seconds === 3_600 ? texts.hour : seconds === 86_400 ? texts.day : seconds ? days(seconds) : texts.noEnd,
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

const lineCount = 10;
const quantityMax = 9_999;
const stockMax = 10_000;
/** Seconds; 0: without an end. */
const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400, 0] as const;
const lifetimeDefault = 30 * 86_400;

interface TypedLine {
  readonly name: string;
  readonly quantity: string;
  readonly amount: string;
}

const typedNames = [
  ...(["kind", "pricing", "amount", "least", "most", "stock", "currency", "reference", "description"] as const),
  ...(["email", "mail", "expires", "locale", "capture"] as const),
];

export type TypedLink = Readonly<Record<(typeof typedNames)[number], string>> & {
  readonly lines: readonly TypedLine[];
};

export const emptyLink: TypedLink = {
  ...{ kind: "single", pricing: "fixed", amount: "", least: "", most: "", stock: "", currency: "", reference: "" },
  ...{ description: "", email: "", mail: "", expires: String(lifetimeDefault), locale: "", capture: "automatic" },
  lines: Array.from({ length: lineCount }, () => ({ name: "", quantity: "1", amount: "" })),
};

export function typedLink(form: Form): TypedLink {
  const lines = Array.from({ length: lineCount }, (_, i) => ({
    name: form.text(`item_name_${i}`),
    quantity: form.text(`item_quantity_${i}`),
    amount: form.text(`item_amount_${i}`),
  }));
  const texts = Object.fromEntries(typedNames.map((name) => [name, form.text(name)]));
  const kind = texts.kind === "reusable" ? "reusable" : "single";
  const pricing = texts.pricing === "chosen" ? "chosen" : "fixed";
  return { ...emptyLink, ...texts, kind, pricing, lines };
}

type Order = Omit<
  MessageInitShape<typeof CreatePaymentLinkRequestSchema>,
  "$typeName" | "merchantId" | "environment" | "idempotency" | "expiresAt" | "createdBy"
>;

interface ReadOrder {
  readonly order: Order;
  /** 0: without an end. */
  readonly lifeSeconds: number;
  /** Address to email the link to; may be empty. */
  readonly mailTo: string;
}

type Problem = [field: string, text: string];

/** @param locales languages of the payment page */
export function readLink(
  typed: TypedLink,
  language: Language,
  locales: readonly string[],
): { readonly problems: Problems } | ReadOrder {
  const texts = textsOf(language).links;
  const problems: Problem[] = [];
  const currency = typed.currency.toUpperCase();
  const isSingle = typed.kind === "single";
  const isChosen = !isSingle && typed.pricing === "chosen";
  if (currencyExponent(currency) === undefined) problems.push(["currency", texts.currencyWrong]);
  const { lineItems, amountMin, amountMax } =
    problems.length > 0
      ? { lineItems: [], amountMin: 0n, amountMax: 0n }
      : (isChosen ? readBounds : readTotal)(typed, currency, language, problems);
  const usesMax = isSingle ? 1 : readStock(typed.stock);
  if (usesMax === undefined) problems.push(["stock", texts.stockWrong]);
  for (const [name, fits] of [
    ["reference", isLine(typed.reference, 100)],
    ["description", isText(typed.description, 255)],
  ] as const)
    if (!fits) problems.push([name, fillText(texts.textWrong, { field: texts[name] })]);
  const needsEmail = isSingle && (typed.email !== "" || typed.mail !== "");
  const customerEmail = needsEmail ? buyerEmail(typed.email) : "";
  if (customerEmail === undefined) problems.push(["email", texts.emailWrong]);
  if (problems.length > 0 || customerEmail === undefined || usesMax === undefined) return { problems };
  return {
    order: {
      ...{ currency, amountMin, amountMax, lineItems, usesMax, customerEmail },
      ...{ description: typed.description, orderReference: typed.reference },
      locale: locales.find((each) => each === typed.locale) ?? "",
      captureMethod: typed.capture === "manual" ? "manual" : "automatic",
    },
    lifeSeconds: lifetimes.find((each) => String(each) === typed.expires) ?? lifetimeDefault,
    mailTo: typed.mail === "" ? "" : customerEmail,
  };
}

/** 0: any number; undefined: wrong. */
function readStock(text: string): number | undefined {
  if (text === "") return 0;
  const stock = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return stock >= 2 && stock <= stockMax ? stock : undefined;
}

/** The amounts that customers choose between. */
function readBounds({ least, most }: TypedLink, currency: string, language: Language, problems: Problem[]) {
  const [amountMin = 0n, amountMax = 0n] = [least, most].map((text) => minorUnits(text, currency));
  const fits = amountMin >= 1n && amountMax > amountMin && amountMax <= amountLimit;
  if (!fits) problems.push(["least", textsOf(language).links.boundsWrong]);
  return { lineItems: [], amountMin, amountMax };
}

/** The fixed amount, and the lines that add up to it. */
function readTotal({ lines, amount }: TypedLink, currency: string, language: Language, problems: Problem[]) {
  const texts = textsOf(language).links;
  const lineItems = readLines(lines, currency, (number) => fillText(texts.itemWrong, { number }), problems);
  const sum = lineItems.reduce((all, line) => all + line.amount, 0n);
  const total = (amount === "" && lineItems.length > 0 ? sum : minorUnits(amount, currency)) ?? 0n;
  if (total < 1n || total > amountLimit) problems.push(["amount", texts.amountWrong]);
  else if (lineItems.length > 0 && total !== sum)
    problems.push(["amount", fillText(texts.amountDiffers, { sum: moneyText(language, sum, currency) })]);
  return { lineItems, amountMin: total, amountMax: total };
}

/** Lines that are not empty. Adds a problem for each invalid one. */
function readLines(
  lines: readonly TypedLine[],
  currency: string,
  wrongText: (number: number) => string,
  problems: Problem[],
): { name: string; quantity: number; amount: bigint }[] {
  return lines.flatMap((line, i) => {
    // The form fills in the quantity of empty lines.
    if (line.name === "" && line.amount === "") return [];
    const isNegative = /^[-−]/.test(line.amount);
    const amount = minorUnits(isNegative ? line.amount.slice(1) : line.amount, currency);
    const quantity = /^\d{1,4}$/.test(line.quantity) ? Number(line.quantity) : 0;
    const isName = line.name !== "" && isLine(line.name, 200);
    if (!isName || amount === undefined || amount > amountLimit || quantity < 1 || quantity > quantityMax) {
      problems.push([`item_name_${i}`, wrongText(i + 1)]);
      return [];
    }
    return [{ name: line.name, quantity, amount: isNegative ? -amount : amount }];
  });
}
