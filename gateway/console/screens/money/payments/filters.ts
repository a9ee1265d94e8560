// The filters of the list of payments: they stand in the address, as people type them, and go to the service as it
// takes them. What cannot be meant is told beside its field, and nothing is listed by it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { currencyExponent } from "#platform/values/money.ts";
import type { ListPaymentsRequestSchema } from "#proto/payments/v1/payments_pb.ts";
import { searchOf } from "../../../../json/parts/input.ts";
import { dayEnd, dayStart } from "../../../http/day.ts";
import { stateOf } from "../../../texts/labels.ts";
import { fill, type Language, textsOf } from "../../../texts/texts.ts";
import { dayShown, minorUnits } from "../../../view/values.ts";

/** Their names in the address, in the order of the form. */
export const filterNames = [
  ...(["q", "status", "from", "to", "min", "max", "currency", "connector", "reference"] as const),
  ...(["captured_from", "captured_to"] as const),
] as const;
export type FilterName = (typeof filterNames)[number];

// As the service takes them at most.
const maxLengths: Readonly<Record<FilterName, number>> = {
  ...{ q: 254, status: 32, from: 10, to: 10, min: 20, max: 20 },
  ...{ currency: 3, connector: 64, reference: 100, captured_from: 10, captured_to: 10 },
};

type PaymentCriteria = Omit<MessageInitShape<typeof ListPaymentsRequestSchema>, "$typeName">;

export interface PaymentFilters {
  /** As typed; empty: not set. */
  readonly typed: Readonly<Record<FilterName, string>>;
  readonly isAny: boolean;
  /** What is wrong, by field. */
  readonly problems: readonly (readonly [FilterName, string])[];
  /** For the service, when nothing is wrong. */
  readonly criteria: PaymentCriteria;
}

export function readFilters(query: URLSearchParams, language: Language): PaymentFilters {
  const value = (name: FilterName) => (query.get(name) ?? "").trim().slice(0, maxLengths[name]);
  const typed = {
    ...{ q: value("q"), status: value("status"), from: value("from"), to: value("to") },
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
    // Two decimals where no currency says otherwise.
    const amount = minorUnits(typed[name], currency || "EUR");
    if (amount === undefined) problems.push([name, fill(texts.wrongAmount, { field: texts[name] })]);
    return amount;
  };
  const day = (name: FilterName, label: string, read: typeof dayStart) => {
    if (typed[name] === "") return undefined;
    const at = read(typed[name]);
    if (!at) problems.push([name, fill(texts.wrongDay, { field: label })]);
    return at;
  };
  const [minAmount, maxAmount] = [money("min"), money("max")];
  const [from, to] = [day("from", texts.from, dayStart), day("to", texts.to, dayEnd)];
  const capturedFrom = day("captured_from", texts.capturedFrom, dayStart);
  const capturedTo = day("captured_to", texts.capturedTo, dayEnd);
  return {
    typed,
    isAny: filterNames.some((name) => typed[name] !== ""),
    problems,
    criteria: {
      ...{
        q: searchOf(typed.q),
        status: typed.status,
        currency,
        connector: typed.connector,
        orderReference: typed.reference,
      },
      ...(minAmount !== undefined && { minAmount }),
      ...(maxAmount !== undefined && { maxAmount }),
      ...(from && { from }),
      ...(to && { to }),
      ...(capturedFrom && { capturedFrom }),
      ...(capturedTo && { capturedTo }),
    },
  };
}

/** As chips: each filter with its label. */
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

/** The filters alone as a query: what a saved view keeps. */
export function queryOfFilters(typed: PaymentFilters["typed"]): string {
  const set = filterNames.filter((name) => typed[name] !== "").map((name): [string, string] => [name, typed[name]]);
  return new URLSearchParams(set).toString();
}
