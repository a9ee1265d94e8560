// The form of a fee schedule: typed in percent and in the currency's own units, given on in basis points and minor
// ones.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hidden, textField } from "../../../view/fields.ts";
import { type Problems, postForm, problemOf, renderDetails } from "../../../view/operator-forms.ts";
import { minorUnits } from "../../../view/values.ts";

/** As it was typed. */
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
  merchant: "*",
  currency: "*",
  connector: "*",
  percent: "",
  fixed: "0",
  from: "",
  note: "",
};

export function feeForm(visit: OperatorVisit, typed: TypedFee, problems: Problems): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const field = (name: keyof TypedFee, label: string, hint?: string, type: "text" | "datetime-local" = "text") =>
    textField({
      name,
      label,
      type,
      value: typed[name],
      maxlength: 500,
      problem: problemOf(problems, name),
      ...(hint && { hint }),
    });
  const form = postForm(visit, {
    action: "/fees",
    fields: [
      hidden("merchant", typed.merchant),
      field("currency", ownTexts.currency),
      field("connector", texts.connector),
      field("percent", texts.percent, texts.percentHint),
      field("fixed", texts.fixed, texts.fixedHint),
      field("from", texts.from, texts.fromHint, "datetime-local"),
      field("note", ownTexts.note, ownTexts.noteHint),
    ],
    button: texts.addFee,
  });
  return renderDetails(texts.addFee, form, problems.length > 0);
}

export function typedFee(form: Form): TypedFee {
  return {
    merchant: form.text("merchant"),
    currency: form.text("currency").toUpperCase(),
    connector: form.text("connector"),
    percent: form.text("percent"),
    fixed: form.text("fixed"),
    from: form.text("from"),
    note: form.text("note"),
  };
}

/** What payments is given, or what is wrong. */
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

/** Of a percentage with at most two decimals, 0 to 100; undefined: it is none. */
function hundredths(text: string): number | undefined {
  const [, whole, fraction = ""] = /^(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const value = Number(whole) * 100 + Number(fraction.padEnd(2, "0"));
  return value <= 10_000 ? value : undefined;
}

/** A field of date and time, taken as UTC. */
function momentOf(text: string): Date | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? new Date(`${text}:00Z`) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at : undefined;
}
