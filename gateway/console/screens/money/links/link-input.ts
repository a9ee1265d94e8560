// What a form of a payment link asks for: every field as typed, what is wrong with it, and, when nothing is, the order
// as checkout takes it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { buyerEmail } from "#platform/values/email.ts";
import { amountMax, currencyExponent } from "#platform/values/money.ts";
import type { CreateSessionRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { displayFormats, displayLine, displayText } from "../../../../http/display-text.ts";
import type { Form } from "../../../http/form.ts";
import { fill, type Language, textsOf } from "../../../texts/texts.ts";
import { minorUnits, money } from "../../../view/values.ts";

/** Lines that the form has. */
export const lineCount = 10;
const quantityMax = 9_999;
/** Seconds that a link can work. */
export const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400] as const;

export interface TypedLine {
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
  /** `yes`: the link is sent there. */
  readonly mail: string;
  readonly expires: string;
  readonly locale: string;
  readonly capture: string;
  readonly lines: readonly TypedLine[];
}

export type LinkProblems = readonly (readonly [field: string, text: string])[];
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
export function judgeLink(
  typed: TypedLink,
  language: Language,
  locales: readonly string[],
): { readonly problems: LinkProblems } | { readonly order: Order; readonly problems: readonly [] } {
  const texts = textsOf(language).links;
  const currency = typed.currency.toUpperCase();
  const problems: [string, string][] = [];
  if (currencyExponent(currency) === undefined) problems.push(["currency", texts.currencyWrong]);
  const lineItems =
    problems.length === 0
      ? judgeLines(typed.lines, currency, (number) => fill(texts.itemWrong, { number }), problems)
      : [];
  const sum = lineItems.reduce((all, line) => all + line.amount, 0n);
  const total = typed.amount === "" && lineItems.length > 0 ? sum : minorUnits(typed.amount, currency);
  if (total === undefined || total < 1n || total > amountMax) problems.push(["amount", texts.amountWrong]);
  else if (lineItems.length > 0 && total !== sum)
    problems.push(["amount", fill(texts.amountDiffers, { sum: money(language, sum, currency) })]);
  const isLine = (text: string, max: number) => [...text].length <= max && displayFormats[displayLine]?.(text) === true;
  const isText = (text: string, max: number) => [...text].length <= max && displayFormats[displayText]?.(text) === true;
  if (!isLine(typed.reference, 100)) problems.push(["reference", fill(texts.textWrong, { field: texts.reference })]);
  if (!isText(typed.description, 255))
    problems.push(["description", fill(texts.textWrong, { field: texts.description })]);
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

/** Lines that are not empty. Those of which nothing can be made are told. */
function judgeLines(
  lines: readonly TypedLine[],
  currency: string,
  wrongText: (number: number) => string,
  problems: [string, string][],
): { name: string; quantity: number; amount: bigint }[] {
  return lines.flatMap((line, i) => {
    // A quantity is filled in beforehand.
    if (line.name === "" && line.amount === "") return [];
    const isNegative = /^[-−]/.test(line.amount);
    const amount = minorUnits(isNegative ? line.amount.slice(1) : line.amount, currency);
    const quantity = /^\d{1,4}$/.test(line.quantity) ? Number(line.quantity) : 0;
    const isName =
      line.name !== "" && [...line.name].length <= 200 && displayFormats[displayLine]?.(line.name) === true;
    if (!isName || amount === undefined || amount > amountMax || quantity < 1 || quantity > quantityMax) {
      problems.push([`item_name_${i}`, wrongText(i + 1)]);
      return [];
    }
    return [{ name: line.name, quantity, amount: isNegative ? -amount : amount }];
  });
}
