// The form of a fee schedule. It converts percent to basis points and major units to minor units.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hidden, type Problems, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { renderDetails } from "../../../view/operator-forms.ts";
import { minorUnits } from "../../../view/values.ts";

export interface TypedFee {
  readonly merchant: string;
  readonly currency: string;
  readonly connector: string;
  readonly percent: string;
  readonly fixed: string;
  readonly from: string;
  readonly note: string;
}
export const emptyFee: TypedFee = {
  ...{ merchant: "*", currency: "*", connector: "*" },
  ...{ percent: "", fixed: "0", from: "", note: "" },
};

export function feeForm(visit: OperatorVisit, typed: TypedFee, problems: Problems): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const maxlength = 500;
  const field = textFields(typed, problems);
  const form = postForm(visit, {
    action: "/fees",
    fields: [
      hidden("merchant", typed.merchant),
      field("currency", ownTexts.currency, { maxlength }),
      field("connector", texts.connector, { maxlength }),
      field("percent", texts.percent, { hint: texts.percentHint, maxlength }),
      field("fixed", texts.fixed, { hint: texts.fixedHint, maxlength }),
      field("from", texts.from, { hint: texts.fromHint, type: "datetime-local" }),
      field("note", ownTexts.note, { hint: ownTexts.noteHint, maxlength }),
    ],
    button: texts.addFee,
  });
  return renderDetails(texts.addFee, form, problems.length > 0);
}

export function typedFee(form: Form): TypedFee {
  const names = Object.keys(emptyFee).map((name) => [name, form.text(name)] as const);
  return { ...emptyFee, ...Object.fromEntries(names), currency: form.text("currency").toUpperCase() };
}

/** The schedule for the payments service, or the problems. */
export function readFee({ language }: OperatorVisit, typed: TypedFee) {
  const texts = textsOf(language).rules;
  const problems: [string, string][] = [];
  const basisPoints = hundredths(typed.percent);
  const fixedAmount =
    typed.currency === "*"
      ? /^0*([.,]0*)?$/.test(typed.fixed)
        ? 0n
        : undefined
      : minorUnits(typed.fixed || "0", typed.currency);
  const from = momentOf(typed.from);
  if (!/^(\*|[A-Z]{3})$/.test(typed.currency)) problems.push(["currency", texts.currencyWrong]);
  if (!/^(\*|[a-z][a-z0-9_]{0,31})$/.test(typed.connector)) problems.push(["connector", texts.connectorWrong]);
  if (basisPoints === undefined) problems.push(["percent", texts.percentWrong]);
  if (fixedAmount === undefined) problems.push(["fixed", texts.fixedWrong]);
  if (typed.from !== "" && from === undefined) problems.push(["from", texts.fromWrong]);
  if (problems.length > 0 || basisPoints === undefined || fixedAmount === undefined) return { problems };
  const key = { merchantId: typed.merchant, currency: typed.currency, connector: typed.connector };
  const effectiveFrom = from && { effectiveFrom: timestampFromDate(from) };
  return { schedule: { key: { ...key, ...effectiveFrom }, basisPoints, fixedAmount } };
}

/** Hundredths of a percentage from 0 to 100 with at most two decimals. */
function hundredths(text: string): number | undefined {
  const [, whole, fraction = ""] = /^(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const value = Number(whole) * 100 + Number(fraction.padEnd(2, "0"));
  return value <= 10_000 ? value : undefined;
}

/** Reads a date and time as UTC. */
function momentOf(text: string): Date | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? new Date(`${text}:00Z`) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at : undefined;
}
