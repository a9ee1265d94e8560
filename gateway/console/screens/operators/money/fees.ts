// Fee schedules of one merchant or of all merchants. Schedules can be added, and removed until they start.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { FeeSchedule } from "#proto/payments/v1/fee_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hidden, type Problems } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { noProblems, operatorName, problemBox, showRefusal } from "../../../view/operator-forms.ts";
import { address, chip, onThisPage, paging } from "../../../view/pieces.ts";
import { table } from "../../../view/table.ts";
import { majorUnits, moment } from "../../../view/values.ts";
import { ownerOf } from "../risk/labels.ts";
import { ownerForm } from "../risk/rules.ts";
import { emptyFee, feeForm, readFee, type TypedFee, typedFee } from "./fee-form.ts";
import { renderQuote } from "./quote.ts";

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
    return { go: address("/fees", { merchant: typed.merchant }), done: "fee-set" };
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
    return { go: address("/fees", { merchant: merchantId }), done: "fee-removed" };
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
  const owner = ownerOf(typed?.merchant ?? (query.get("merchant") ?? "").trim());
  const offset = /^\d{1,9}$/.test(query.get("offset") ?? "") ? BigInt(query.get("offset") ?? 0) : 0n;
  const page = { merchantId: owner, limit: pageSize, offset };
  const { schedules, total } = await context.peers.fees.listFeeSchedules(page);
  const after = offset + BigInt(pageSize);
  const merchant = owner === "*" ? "" : owner;
  return {
    title: texts.fees,
    body: html`<h1>${texts.fees}</h1>${problemBox(visit, problems)}<p>${texts.feesText}</p>${ownerForm(visit, "/fees", owner)}
${scheduleTable(visit, schedules, owner === "*" ? texts.noDefaultFees : texts.noFees)}
${paging(language, {
  total: onThisPage(language, schedules.length),
  next: after < total ? address("/fees", { merchant, offset: String(after) }) : undefined,
  first: offset === 0n ? undefined : address("/fees", { merchant }),
})}
${visit.may("fees.write") ? feeForm(visit, typed ?? { ...emptyFee, merchant: owner }, problems) : ""}
${await renderQuote(context, visit, merchant)}`,
  };
}

function scheduleTable(visit: OperatorVisit, schedules: readonly FeeSchedule[], empty: string): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  return table({
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
  const state = hasStarted(schedule) ? chip(texts.inEffect, "quiet") : chip(texts.scheduled, "wait");
  return html`<span>${moment(language, schedule.key?.effectiveFrom)} ${state}</span>`;
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
      hidden("merchant", key.merchantId),
      hidden("currency", key.currency),
      hidden("connector", key.connector),
      hidden("from", `${seconds}.${nanos}`),
    ],
    button: textsOf(visit.language).operatorForms.remove,
    tone: "secondary",
    layout: "row",
  });
}
