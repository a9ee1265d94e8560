// Fee schedules of one merchant or of all merchants: they can be added, and removed until they start. Calculates the
// fee of a payment; the address holds the question, so it can be shared.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { asFailure } from "#platform/values/failure.ts";
import type { FeeSchedule } from "#proto/payments/v1/fee_pb.ts";
import { majorUnits } from "../../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, type Problems, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { noProblems, operatorName, problemBox, renderDetails, showRefusal } from "../../../view/operator-forms.ts";
import { addressWith, onThisPage, pageNavigation, toneChip } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, minorUnits, moneyText } from "../../../view/values.ts";
import { chooseMerchant } from "../merchants/find-merchant.ts";
import { ownerOf } from "../risk/rule-form.ts";
import { ownerForm } from "../risk/rules.ts";

const pageSize = 50;
const needs = { action: "fees.write", proof: () => true };

export function feesRoutes(context: ConsoleContext): void {
  operatorPage(context, "/fees", "fees.read", (visit) => feesPage(context, visit));
  operatorForm(context, "/fees", needs, (visit, form) => add(context, visit, form));
  operatorForm(context, "/fees/remove", needs, (visit, form) => remove(context, visit, form));
}

async function add(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const typed = typedFee(form);
  const again = (problems: Problems) => feesPage(context, visit, problems, typed);
  const read = readFee(visit, typed);
  if ("problems" in read) return { ...(await again(read.problems)), status: 422 };
  const set = async () => {
    const schedule = { ...read.schedule, operator: operatorName(visit), note: typed.note };
    await context.peers.fees.setFeeSchedule({ schedule });
    return { go: addressWith("/fees", { merchant: typed.merchant }), done: "fee-set" };
  };
  return await showRefusal(visit, set, again);
}

async function remove(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const [merchantId, currency, connector] = [form.text("merchant"), form.text("currency"), form.text("connector")];
  const [seconds, nanos] = form.text("from").split(".");
  const isMoment = /^\d{1,12}$/.test(seconds ?? "") && /^\d{1,9}$/.test(nanos ?? "");
  const act = async () => {
    const effectiveFrom = isMoment ? { seconds: BigInt(seconds ?? 0), nanos: Number(nanos) } : undefined;
    const key = { merchantId, currency, connector, ...(effectiveFrom && { effectiveFrom }) };
    await context.peers.fees.removeFeeSchedule({ key, operator: operatorName(visit) });
    return { go: addressWith("/fees", { merchant: merchantId }), done: "fee-removed" };
  };
  return await showRefusal(visit, act, (problems) => feesPage(context, visit, problems));
}

async function feesPage(
  context: ConsoleContext,
  visit: OperatorVisit,
  problems: Problems = noProblems,
  typed?: TypedFee,
): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).rules;
  const query = queryOf(visit);
  const chosen = await chooseMerchant(context, visit, { path: "/fees", query, name: "merchant" });
  const owner = ownerOf(typed?.merchant ?? chosen.id);
  const offset = /^\d{1,9}$/.test(query.get("offset") ?? "") ? BigInt(query.get("offset") ?? 0) : 0n;
  const page = { merchantId: owner, limit: pageSize, offset };
  const { schedules, total } = await context.peers.fees.listFeeSchedules(page);
  const after = offset + BigInt(pageSize);
  const merchant = owner === "*" ? "" : owner;
  return {
    title: texts.fees,
    body: html`<h1>${texts.fees}</h1>${problemBox(visit, problems)}<p>${texts.feesText}</p>${ownerForm(visit, "/fees", owner)}${chosen.choice}
${scheduleTable(visit, schedules, owner === "*" ? texts.noDefaultFees : texts.noFees)}
${pageNavigation(language, {
  total: onThisPage(language, schedules.length),
  next: after < total ? addressWith("/fees", { merchant, offset: String(after) }) : undefined,
  first: offset === 0n ? undefined : addressWith("/fees", { merchant }),
})}
${visit.may("fees.write") ? feeForm(visit, typed ?? { ...emptyFee, merchant: owner }, problems) : ""}
${await renderQuote(context, visit, merchant)}`,
  };
}

function scheduleTable(visit: OperatorVisit, schedules: readonly FeeSchedule[], empty: string): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  return htmlTable({
    caption: texts.fees,
    rows: schedules,
    empty,
    columns: [
      { heading: ownTexts.currency, cell: ({ key }) => key?.currency ?? "" },
      { heading: texts.connector, cell: ({ key }) => key?.connector ?? "" },
      { heading: texts.percent, isNumber: true, cell: ({ basisPoints }) => `${(basisPoints / 100).toFixed(2)} %` },
      { heading: texts.fixed, isNumber: true, cell: (each) => majorUnits(each.fixedAmount, each.key?.currency ?? "*") },
      { heading: texts.from, cell: (each) => startCell(visit, each) },
      { heading: ownTexts.by, cell: (each) => html`<span>${each.operator || texts.byOperator}<br>${each.note}</span>` },
      ...(visit.may("fees.write")
        ? [{ heading: ownTexts.change, cell: (each: FeeSchedule) => removal(visit, each) }]
        : []),
    ],
  });
}

function startCell({ language }: OperatorVisit, schedule: FeeSchedule): Html {
  const texts = textsOf(language).rules;
  const state = hasStarted(schedule) ? toneChip(texts.inEffect, "quiet") : toneChip(texts.scheduled, "wait");
  return html`<span>${dateTimeText(language, schedule.key?.effectiveFrom)} ${state}</span>`;
}

function hasStarted({ key }: FeeSchedule): boolean {
  return key?.effectiveFrom === undefined || timestampDate(key.effectiveFrom).getTime() <= Date.now();
}

function removal(visit: OperatorVisit, schedule: FeeSchedule): Html | string {
  const { key } = schedule;
  if (hasStarted(schedule) || !key?.effectiveFrom) return "";
  const { seconds, nanos } = key.effectiveFrom;
  return postForm(visit, {
    action: "/fees/remove",
    fields: [
      hiddenField("merchant", key.merchantId),
      hiddenField("currency", key.currency),
      hiddenField("connector", key.connector),
      hiddenField("from", `${seconds}.${nanos}`),
    ],
    button: textsOf(visit.language).operatorForms.remove,
    tone: "secondary",
    layout: "row",
  });
}

interface TypedFee {
  readonly merchant: string;
  readonly currency: string;
  readonly connector: string;
  readonly percent: string;
  readonly fixed: string;
  readonly from: string;
  readonly note: string;
}
const emptyFee: TypedFee = {
  ...{ merchant: "*", currency: "*", connector: "*" },
  ...{ percent: "", fixed: "0", from: "", note: "" },
};

function feeForm(visit: OperatorVisit, typed: TypedFee, problems: Problems): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const maxlength = 500;
  const field = textFields(typed, problems);
  const form = postForm(visit, {
    action: "/fees",
    fields: [
      hiddenField("merchant", typed.merchant),
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

function typedFee(form: Form): TypedFee {
  const names = Object.keys(emptyFee).map((name) => [name, form.text(name)] as const);
  return { ...emptyFee, ...Object.fromEntries(names), currency: form.text("currency").toUpperCase() };
}

/** The schedule for the payments service, or the problems. */
function readFee({ language }: OperatorVisit, typed: TypedFee) {
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

function momentOf(text: string): Date | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? new Date(`${text}:00Z`) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at : undefined;
}

/** @param merchant `mer_…`; without one there is no calculator */
async function renderQuote(context: ConsoleContext, visit: OperatorVisit, merchant: string): Promise<Html | string> {
  if (merchant === "") return "";
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const query = queryOf(visit);
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 32);
  const typed = { currency: of("currency").toUpperCase(), connector: of("connector"), amount: of("amount") };
  const hasAmount = typed.amount !== "";
  const answer = hasAmount ? await quote(context, visit, merchant, typed) : "";
  const field = (name: "currency" | "connector" | "amount", id: string, label: string) =>
    html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" value="${typed[name]}" maxlength="32" autocomplete="off"></div>`;
  const form = html`<form method="get" action="/fees" class="grid">${hiddenField("merchant", merchant)}
${field("currency", "quote-currency", ownTexts.currency)}${field("connector", "quote-connector", texts.connector)}${field("amount", "quote-amount", ownTexts.amount)}
<button class="button secondary">${texts.quoteButton}</button></form>`;
  return renderDetails(texts.quote, html`${form}${answer}`, hasAmount);
}

async function quote(
  { peers }: ConsoleContext,
  { language }: OperatorVisit,
  merchantId: string,
  typed: { readonly currency: string; readonly connector: string; readonly amount: string },
): Promise<Html> {
  const texts = textsOf(language).rules;
  const { currency, connector } = typed;
  const amount = minorUnits(typed.amount, currency);
  if (amount === undefined || amount < 1n || connector === "")
    return html`<p class="problem" role="alert">${texts.quoteNeeds}</p>`;
  try {
    const { feeAmount, schedule } = await peers.fees.quoteFee({ merchantId, currency, connector, amount });
    const { key } = schedule ?? {};
    const by = key
      ? html` <span class="muted">${texts.bySchedule} <code>${key.merchantId}/${key.currency}/${key.connector}</code></span>`
      : "";
    return html`<p role="status"><strong>${fillText(texts.quoteAnswer, { fee: moneyText(language, feeAmount, currency) })}</strong>${by}</p>`;
  } catch (error) {
    const { reason } = asFailure(error);
    if (reason === "NOT_FOUND") return html`<p role="status">${texts.quoteNone}</p>`;
    if (reason === "INVALID_BODY") return html`<p class="problem" role="alert">${texts.quoteNeeds}</p>`;
    throw error;
  }
}
