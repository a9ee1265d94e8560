// The filters of the payment list and their form. The address holds them as typed; this file converts them for the
// service or reports a problem per field.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { currencyExponent } from "#platform/values/money.ts";
import type { ListPaymentsRequestSchema } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { searchOf } from "../../../../json/parts/input.ts";
import { dayEnd, dayStart } from "../../../http/day.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { codeChoices, codesOf, stateOf } from "../../../texts/labels.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import { textFields } from "../../../view/fields.ts";
import { filterSelect, searchInput } from "../../../view/filter-form.ts";
import { dayShown, minorUnits } from "../../../view/values.ts";

/** Names in the address, in the order of the form. */
const filterNames = [
  ...(["q", "status", "from", "to", "min", "max", "currency", "connector", "reference"] as const),
  ...(["captured_from", "captured_to"] as const),
] as const;
type FilterName = (typeof filterNames)[number];

const maxLengths: Readonly<Record<FilterName, number>> = {
  ...{ q: 254, status: 32, from: 10, to: 10, min: 20, max: 20 },
  ...{ currency: 3, connector: 64, reference: 100, captured_from: 10, captured_to: 10 },
};

type PaymentCriteria = Omit<MessageInitShape<typeof ListPaymentsRequestSchema>, "$typeName">;

export interface PaymentFilters {
  readonly typed: Readonly<Record<FilterName, string>>;
  readonly isAny: boolean;
  readonly problems: readonly (readonly [FilterName, string])[];
  readonly criteria: PaymentCriteria;
}

export function readFilters(query: URLSearchParams, language: Language): PaymentFilters {
  const value = (name: FilterName) => (query.get(name) ?? "").trim().slice(0, maxLengths[name]);
  const typed = {
    ...{ q: value("q"), status: codesOf("paymentStates").find((each) => each === value("status")) ?? "" },
    ...{ from: value("from"), to: value("to") },
    ...{ min: value("min"), max: value("max"), currency: value("currency"), connector: value("connector") },
    ...{ reference: value("reference") },
    ...{ captured_from: value("captured_from"), captured_to: value("captured_to") },
  };
  const texts = textsOf(language).payments;
  const problems: [FilterName, string][] = [];
  const currency = typed.currency.toUpperCase();
  if (currency !== "" && currencyExponent(currency) === undefined) problems.push(["currency", texts.wrongCurrency]);
  const money = (name: "min" | "max") => {
    if (typed[name] === "") return undefined;
    // Without a currency, amounts have two decimals.
    const amount = minorUnits(typed[name], currency || "EUR");
    if (amount === undefined) problems.push([name, fillText(texts.wrongAmount, { field: texts[name] })]);
    return amount;
  };
  const day = (name: FilterName, label: string, read: typeof dayStart) => {
    if (typed[name] === "") return undefined;
    const at = read(typed[name]);
    if (!at) problems.push([name, fillText(texts.wrongDay, { field: label })]);
    return at;
  };
  const [minAmount, maxAmount] = [money("min"), money("max")];
  const [from, to] = [day("from", texts.from, dayStart), day("to", texts.to, dayEnd)];
  const capturedFrom = day("captured_from", texts.capturedFrom, dayStart);
  const capturedTo = day("captured_to", texts.capturedTo, dayEnd);
  if (from && to && timestampMs(from) > timestampMs(to)) problems.push(["from", texts.wrongRange]);
  if (capturedFrom && capturedTo && timestampMs(capturedFrom) > timestampMs(capturedTo))
    problems.push(["captured_from", texts.wrongRange]);
  return {
    typed,
    isAny: filterNames.some((name) => typed[name] !== ""),
    problems,
    criteria: {
      ...{ q: searchOf(typed.q), status: typed.status, currency },
      ...{ connector: typed.connector, orderReference: typed.reference },
      ...(minAmount !== undefined && { minAmount }),
      ...(maxAmount !== undefined && { maxAmount }),
      ...(from && { from }),
      ...(to && { to }),
      ...(capturedFrom && { capturedFrom }),
      ...(capturedTo && { capturedTo }),
    },
  };
}

export function labelsOf(language: Language, typed: PaymentFilters["typed"]) {
  const texts = textsOf(language).payments;
  const labels: Readonly<Record<FilterName, string>> = {
    ...{ q: texts.query, status: texts.status, from: texts.from, to: texts.to, min: texts.min, max: texts.max },
    ...{ currency: texts.currency, connector: texts.connector, reference: texts.reference },
    ...{ captured_from: texts.capturedFrom, captured_to: texts.capturedTo },
  };
  return filterNames.map((name) => {
    const isDay = name.endsWith("from") || name.endsWith("to");
    const text = isDay ? dayShown(language, typed[name]) : typed[name];
    return {
      name,
      label: labels[name],
      value: name === "status" ? stateOf(language, "paymentStates", typed.status).text : text,
    };
  });
}

/** The filters as the query that a saved view stores. */
export function queryOfFilters(typed: PaymentFilters["typed"]): string {
  const set = filterNames.filter((name) => typed[name] !== "").map((name): [string, string] => [name, typed[name]]);
  return new URLSearchParams(set).toString();
}

export function filterForm({ language }: MerchantVisit, path: string, { typed, problems }: PaymentFilters): Html {
  const texts = textsOf(language).payments;
  const isMore = filterNames.some((name) => name !== "q" && name !== "status" && typed[name] !== "");
  const field = textFields(typed, problems);
  const day = { type: "date" } as const;
  const amount = { inputmode: "decimal", maxlength: 20 } as const;
  const choices = codeChoices(language, "paymentStates", codesOf("paymentStates"), texts.anyStatus);
  return html`<form method="get" action="${path}" role="search"><div class="filters">${searchInput({ name: "q", label: texts.search, value: typed.q }, 254)}
${filterSelect({ name: "status", label: texts.status, value: typed.status, choices, isCompact: true })}
<button class="button secondary">${texts.find}</button></div>
<details class="more"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="filter-grid">
${field("from", texts.from, day)}${field("to", texts.to, day)}
${field("captured_from", texts.capturedFrom, day)}${field("captured_to", texts.capturedTo, day)}
${field("min", texts.min, amount)}${field("max", texts.max, amount)}
${field("currency", texts.currency, { maxlength: 3, placeholder: "EUR" })}${field("connector", texts.connector, { maxlength: 64 })}
${field("reference", texts.reference, { maxlength: 100 })}</div><p class="hint">${texts.amountHint} ${texts.days}</p></details></form>`;
}
