// Reads the form of a payment link into an order for checkout, or lists its problems.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { buyerEmail } from "#platform/values/email.ts";
import { amountMax, currencyExponent } from "#platform/values/money.ts";
import type { CreateSessionRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { type Form, isLine, isText } from "../../../http/form.ts";
import { fill, type Language, textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { minorUnits, money } from "../../../view/values.ts";

export const lineCount = 10;
const quantityMax = 9_999;
/** Lifetimes of a link in seconds. */
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
      ? readLines(typed.lines, currency, (number) => fill(texts.itemWrong, { number }), problems)
      : [];
  const sum = lineItems.reduce((all, line) => all + line.amount, 0n);
  const total = typed.amount === "" && lineItems.length > 0 ? sum : minorUnits(typed.amount, currency);
  if (total === undefined || total < 1n || total > amountMax) problems.push(["amount", texts.amountWrong]);
  else if (lineItems.length > 0 && total !== sum)
    problems.push(["amount", fill(texts.amountDiffers, { sum: money(language, sum, currency) })]);
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
