// The merchants of the installation, and one merchant with its facts, status, switches, and links to its other pages.
import { isId } from "#platform/values/id.ts";
import type { Merchant } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codeChoices, stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hiddenField, onOffField, textField } from "../../../view/fields.ts";
import { filterForm, filterSelect, searchInput } from "../../../view/filter-form.ts";
import { postForm } from "../../../view/forms.ts";
import { backTo, formPanel, renderDetails } from "../../../view/operator-forms.ts";
import { cursorLinks, filterChips, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";

const pageSize = 50;
const searchMax = 100;
const statuses = ["active", "suspended", "closed", "pending"];

export function merchantsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/merchants", "merchants.read", (visit) => merchantsPage(context, visit));
}

async function merchantsPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Answer> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const query = queryOf(visit);
  const typed = (query.get("q") ?? "").trim().slice(0, searchMax);
  if (isId("merchant", typed)) return { go: `/merchants/${typed}` };
  const status = statuses.find((each) => each === query.get("status")) ?? "";
  const pageToken = query.get("page") ?? "";
  const { merchants, nextPageToken } = await peers.merchants.listMerchants({
    status,
    query: typed,
    pageSize,
    pageToken,
  });
  const filters = [
    searchInput({ name: "q", label: texts.search, value: typed }, searchMax),
    filterSelect({
      ...{ name: "status", label: texts.status, value: status, isCompact: true },
      choices: codeChoices(language, "merchantStates", statuses, texts.anyStatus),
    }),
  ];
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>
${filterForm("/merchants", texts.title, textsOf(language).operatorForms.find, filters)}
${filterChips(language, "/merchants", query, [
  { name: "q", label: texts.query, value: typed },
  { name: "status", label: texts.status, value: stateOf(language, "merchantStates", status).text },
])}
${htmlTable({
  caption: texts.title,
  rows: merchants,
  empty: status === "" && typed === "" ? texts.none : texts.noneFound,
  columns: [
    { heading: texts.name, cell: ({ id, name }) => html`<a href="/merchants/${id}"><strong>${name}</strong></a>` },
    { heading: texts.email, cell: ({ email }) => email },
    { heading: "Id", cell: ({ id }) => renderCopyable(language, id) },
    { heading: texts.status, cell: (merchant) => renderMerchantStatus(visit, merchant.status) },
    { heading: texts.country, cell: ({ country }) => country },
    { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
  ],
})}
${cursorLinks(language, { path: "/merchants", query, next: nextPageToken, total: merchants.length, cursor: "page" })}`,
  };
}

export function renderMerchantStatus({ language }: Pick<OperatorVisit, "language">, status: string) {
  const { text, tone } = stateOf(language, "merchantStates", status);
  return toneChip(text, tone);
}

const needs = { action: "merchants.write", proof: () => true };
const moves: Readonly<Record<string, readonly Move[]>> = {
  pending: ["active", "closed"],
  active: ["suspended", "closed"],
  suspended: ["active", "closed"],
  closed: ["active"],
};
type Move = "active" | "suspended" | "closed";
const reasonMax = 500;

/** A status change whose reason was missing or too long. */
interface RejectedMove {
  readonly status: Move;
  readonly reason: string;
}

export function merchantRoutes(context: ConsoleContext): void {
  operatorPage(context, "/merchants/:merchantId", "merchants.read", (visit) => merchantPage(context, visit));
  operatorForm(context, "/merchants/:merchantId/status", needs, async (visit, form) => {
    const merchantId = paramOf(visit, "merchantId");
    const status = (["active", "suspended", "closed"] as const).find((each) => each === form.text("status"));
    if (status === undefined) return { go: `/merchants/${merchantId}` };
    const reason = form.text(`reason_${status}`);
    if (status !== "active" && (reason === "" || reason.length > reasonMax)) {
      return { ...(await merchantPage(context, visit, { status, reason })), status: 422 };
    }
    await context.peers.merchants.updateMerchantState({ merchantId, status, reason });
    return { go: `/merchants/${merchantId}`, done: "merchant-state" };
  });
  operatorForm(context, "/merchants/:merchantId/switches", needs, (visit, form) => saveSwitches(context, visit, form));
}

async function saveSwitches({ peers }: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const merchantId = paramOf(visit, "merchantId");
  const refundsEnabled = form.text("refunds") === "on";
  const failoverEnabled = form.text("failover") === "on";
  await peers.merchants.updateMerchantState({ merchantId, refundsEnabled, failoverEnabled });
  return { go: `/merchants/${merchantId}`, done: "merchant-switches" };
}

async function merchantPage({ peers }: ConsoleContext, visit: OperatorVisit, wrong?: RejectedMove): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const { merchant } = await peers.merchants.getMerchant({ merchantId: paramOf(visit, "merchantId") });
  if (!merchant) throw new Error("merchant returned no merchant");
  return {
    title: merchant.name,
    body: html`${backTo("/merchants", texts.title)}
<h1>${merchant.name} ${renderMerchantStatus(visit, merchant.status)}</h1>
${formPanel(
  texts.one,
  factList([
    ["Id", renderCopyable(language, merchant.id)],
    [texts.legalName, merchant.legalName],
    [texts.email, merchant.email],
    [texts.phone, merchant.phone],
    [texts.website, merchant.website],
    [texts.country, merchant.country],
    [texts.currency, merchant.currency],
    [texts.created, dateTimeText(language, merchant.createdAt)],
    [texts.refunds, merchant.refundsEnabled ? texts.on : texts.off],
    [texts.failover, merchant.failoverEnabled ? texts.on : texts.off],
  ]),
)}
${visit.may("merchants.write") ? stateForms(visit, merchant, wrong) : ""}
${elsewhere(visit, merchant.id)}`,
  };
}

function stateForms(visit: OperatorVisit, merchant: Merchant, wrong: RejectedMove | undefined): Html {
  const texts = textsOf(visit.language).merchants;
  const labels = {
    active: [texts.activate, texts.activateText],
    suspended: [texts.suspend, texts.suspendText],
    closed: [texts.close, texts.closeText],
  } as const;
  const statusForms = (moves[merchant.status] ?? []).map((move) => {
    const [label, text] = labels[move];
    const isWrong = wrong?.status === move;
    const reason = textField({
      ...{ name: `reason_${move}`, label: texts.reason, value: isWrong ? wrong.reason : "" },
      ...{ hint: texts.reasonHint, maxlength: reasonMax, required: true, problem: isWrong ? texts.reasonMissing : "" },
    });
    const form = postForm(visit, {
      action: `/merchants/${merchant.id}/status`,
      fields: [hiddenField("status", move), ...(move === "active" ? [] : [reason])],
      button: label,
      ...(move === "active" ? {} : { tone: "danger" }),
    });
    return renderDetails(
      label,
      html`<p>${text}</p><p class="muted">${textsOf(visit.language).operatorForms.proofNext}</p>${form}`,
      isWrong,
    );
  });
  return html`<h2>${texts.state}</h2>${statusForms}${renderDetails(`${texts.refunds}, ${texts.failover}`, switchesForm(visit, merchant))}`;
}

function switchesForm(visit: OperatorVisit, merchant: Merchant): Html {
  const texts = textsOf(visit.language).merchants;
  const choice = (name: string, label: string, hint: string, isOn: boolean) =>
    onOffField({ name, label, hint, isOn }, texts);
  return postForm(visit, {
    action: `/merchants/${merchant.id}/switches`,
    fields: [
      choice("refunds", texts.refunds, texts.refundsHint, merchant.refundsEnabled),
      choice("failover", texts.failover, texts.failoverHint, merchant.failoverEnabled),
    ],
    button: texts.saveSwitches,
  });
}

function elsewhere(visit: OperatorVisit, merchantId: string): Html {
  const texts = textsOf(visit.language).merchants;
  const destinations = [
    { action: "merchants.read", path: `/merchants/${merchantId}/people`, label: texts.people },
    { action: "risk.read", path: `/risk?merchant=${merchantId}`, label: texts.risk },
    { action: "fees.read", path: `/fees?merchant=${merchantId}`, label: texts.fees },
    { action: "journal.read", path: `/journal?merchant=${merchantId}`, label: texts.journal },
    { action: "audit.read", path: `/audit?merchant=${merchantId}`, label: texts.audit },
  ].filter(({ action }) => visit.may(action));
  const links = destinations.map(({ path, label }) => html`<li><a href="${path}">${label}</a></li>`);
  return formPanel(texts.elsewhere, html`<ul class="choices">${links}</ul>`);
}
