// Disputes, and one dispute with its response. While it is open, it can be answered or accepted; accepting gives money
// away like a refund, so the refund limit applies and large amounts need fresh proof.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { asFailure, Failure } from "#platform/values/failure.ts";
import type { DisputeRecord, Evidence } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { onceField, onceKey, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import { requireProof } from "../../../session/prove.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, problemSummary } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { partLinks } from "../../../view/operator-forms.ts";
import { cursorLinks, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, dayText, moneyText } from "../../../view/values.ts";
import { proofAbove, refundLimitIn } from "../payment/refusal.ts";
import { type AnswerDraft, answerFiles, answerForm, answerRoutes, fileLabel, textLabel } from "./answer.ts";

function disputeRoutes(context: ConsoleContext): void {
  merchantPage(context, "/disputes/:disputeId", "payments.read", async (visit) => {
    const record = await disputeOf(context, visit);
    return disputePage(visit, record, emptyDraft(record));
  });
  answerRoutes(context, disputeOf, disputePage);
  acceptRoutes(context, disputeOf);
}

/** @throws Failure NOT_FOUND */
async function disputeOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<DisputeRecord> {
  const { merchantId, environment } = visit;
  const disputeId = idParam(visit, "disputeId", "dispute");
  const { dispute } = await peers.disputes.getDispute({ merchantId, environment, disputeId });
  if (!dispute) throw new Failure("NOT_FOUND");
  return dispute;
}

function emptyDraft({ dispute }: DisputeRecord): AnswerDraft {
  const key = onceKey("evidence", dispute?.id ?? "", 0);
  return { texts: new Map(), files: new Map(), kind: answerFiles[0], key, problems: [] };
}

/** True while the merchant can respond, by the stored record. */
function isOpen({ dispute, acceptance, evidence }: DisputeRecord): boolean {
  const waits = ["needs_response", "warning_needs_response"].includes(dispute?.status ?? "");
  return waits && acceptance === "" && evidence?.status === "not_submitted";
}

function disputePage(visit: MerchantVisit, record: DisputeRecord, draft: AnswerDraft): Page {
  const { language, base, may } = visit;
  const texts = textsOf(language).disputes;
  const { dispute, currency, paymentId } = record;
  if (!dispute) throw new Failure("NOT_FOUND");
  const amount = moneyText(language, dispute.amount, currency);
  const { text, tone } = stateOf(language, "moneyStates", dispute.status);
  const mayAnswer = may("disputes.answer") && (isOpen(record) || draft.isOpen === true);
  return {
    title: fillText(texts.disputeOf, { amount }),
    status: draft.problems.length > 0 ? 422 : 200,
    body: html`<div class="heading"><h1>${fillText(texts.disputeOf, { amount })}</h1>${toneChip(text, tone)}</div>
<div class="panel">${factList([
      [texts.reason, translateCode(language, "reasons", dispute.reason)],
      [texts.due, dateTimeText(language, dispute.evidenceDueAt)],
      [texts.opened, dateTimeText(language, dispute.openedAt)],
      [texts.payment, html`<a href="${base}/payments/${paymentId}">${texts.openPayment}</a>`],
      [texts.id, renderCopyable(language, dispute.id)],
      [texts.processorId, renderCopyable(language, dispute.connectorDisputeId)],
    ])}</div>
${acceptanceNote(visit, record)}${sentEvidence(visit, record.evidence)}
${mayAnswer ? answerForm(visit, dispute.id, draft) : ""}
${mayAnswer && isOpen(record) ? html`<p><a class="button danger" href="${base}/disputes/${dispute.id}/accept">${texts.accept}</a></p>` : ""}`,
  };
}

function acceptanceNote({ language }: MerchantVisit, { acceptance }: DisputeRecord): Html | string {
  const texts = textsOf(language).disputes;
  if (acceptance === "") return "";
  return html`<p class="warning">${acceptance === "accepted" ? texts.accepted : texts.accepting}</p>`;
}

function sentEvidence({ language }: MerchantVisit, evidence: Evidence | undefined): Html | string {
  const texts = textsOf(language).disputes;
  if (!evidence || evidence.status === "not_submitted") return "";
  const pairs: [string, Html | string][] = [
    ...Object.entries(evidence.texts).map(([name, value]): [string, string] => [textLabel(language, name), value]),
    ...Object.entries(evidence.files).map(([name, id]): [string, Html] => [
      fileLabel(language, name),
      html`<code>${id}</code>`,
    ]),
  ];
  return html`<section class="panel"><h2>${texts.evidence}</h2><p>${evidence.status === "submitted" ? texts.submitted : texts.sending} ${dayText(language, evidence.submittedAt)}</p>${factList(pairs)}</section>`;
}

const action = "disputes.answer";

const refusals = {
  DISPUTE_NOT_ANSWERABLE: "over",
  IDEMPOTENCY_CONFLICT: "busy",
  CONNECTOR_ERROR: "processorRejected",
  SERVICE_UNAVAILABLE: "unknown",
} as const;

function acceptRoutes(
  context: ConsoleContext,
  find: (context: ConsoleContext, visit: MerchantVisit) => Promise<DisputeRecord>,
): void {
  const path = "/disputes/:disputeId/accept";
  merchantPage(context, path, action, async (visit) => {
    const record = await find(context, visit);
    const isAllowed = isWithinLimit(visit, record, await sumReturned(context, visit, record));
    return acceptPage(visit, record, "", isAllowed);
  });
  merchantForm(context, path, { action }, async (visit, form) => {
    const { merchantId, environment, base, language } = visit;
    const record = await find(context, visit);
    const disputeId = record.dispute?.id ?? "";
    const returnedAmount = await sumReturned(context, visit, record);
    if (!isWithinLimit(visit, record, returnedAmount)) {
      return { ...acceptPage(visit, record, "", false), status: 422 };
    }
    if (returnedAmount > proofAbove(record.currency)) {
      const proof = await requireProof(context, visit, form);
      if ("page" in proof) return proof.page;
    }
    const idempotency = onceOf(form, ["accept", disputeId], []);
    try {
      const ids = { merchantId, environment, disputeId };
      const { dispute } = await context.peers.disputes.acceptDispute({ ...ids, idempotency });
      const done = dispute?.acceptance === "accepted" ? "dispute-accepted" : "acceptance-pending";
      return { go: `${base}/disputes/${disputeId}`, done };
    } catch (error) {
      const text = new Map(Object.entries(refusals)).get(asFailure(error).reason);
      if (!text) throw error;
      return acceptPage(visit, record, textsOf(language).disputes[text]);
    }
  });
}

/** Minor units that the customer got by refunds and would keep by this dispute. */
async function sumReturned(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  { dispute, paymentId }: DisputeRecord,
): Promise<bigint> {
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment || !dispute) throw new Failure("NOT_FOUND");
  return payment.refundedAmount + dispute.amount;
}

function isWithinLimit({ membership }: MerchantVisit, { currency }: DisputeRecord, returnedAmount: bigint): boolean {
  const limit = refundLimitIn(membership, currency);
  return limit === undefined || returnedAmount <= limit;
}

function acceptPage(
  visit: MerchantVisit,
  { dispute, currency }: DisputeRecord,
  problem: string,
  isAllowed = true,
): Page {
  const { language, base, membership } = visit;
  const texts = textsOf(language).disputes;
  const id = dispute?.id ?? "";
  const back = html`<a href="${base}/disputes/${id}">${texts.back}</a>`;
  const limit = moneyText(language, refundLimitIn(membership, currency) ?? 0n, currency);
  const amount = moneyText(language, dispute?.amount ?? 0n, currency);
  const form = postForm(visit, {
    fields: [hiddenField(onceField, onceKey("accept", id, 0))],
    button: fillText(texts.acceptNow, { amount }),
    tone: "danger",
    link: back,
  });
  return {
    title: texts.accept,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel form-panel"><h1>${texts.accept}</h1>${problemSummary(texts.wrong, problem === "" ? [] : [["main", problem]])}<p>${texts.acceptText}</p>
${isAllowed ? form : html`<p>${fillText(texts.acceptAboveLimit, { limit })}</p><p>${back}</p>`}</div>`,
  };
}

const pageSize = 50;
// The service's page size. People cannot work through a longer list of open disputes.
const openMax = 200;
const openStatuses = ["needs_response", "warning_needs_response"] as const;

export function disputesRoutes(context: ConsoleContext): void {
  merchantPage(context, "/disputes", "payments.read", (visit) => disputesPage(context, visit));
  disputeRoutes(context);
}

async function disputesPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).disputes;
  const path = `${base}/disputes`;
  const isAll = queryOf(visit).get("view") === "all";
  const tabs = [
    [path, texts.toAnswer, !isAll],
    [`${path}?view=all`, texts.all, isAll],
  ] as const;
  const list = () => (isAll ? allOf(context, visit) : openOf(context, visit));
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>${partLinks(texts.filter, tabs)}
${await loadSection(language, texts.title, list, (found) => found)}`,
  };
}

/** Disputes that need a response, the first due first. */
export async function openDisputes({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const load = (status: string) => peers.disputes.listDisputes({ merchantId, environment, limit: openMax, status });
  const found = await Promise.all(openStatuses.map(load));
  const due = ({ dispute }: DisputeRecord) =>
    dispute?.evidenceDueAt ? timestampMs(dispute.evidenceDueAt) : Number.POSITIVE_INFINITY;
  return {
    // Accepted disputes wait for the processor only.
    disputes: found
      .flatMap(({ disputes }) => disputes)
      .filter(({ acceptance }) => acceptance === "")
      .sort((a, b) => due(a) - due(b)),
    total: found.reduce((sum, { total }) => sum + total, 0n),
  };
}

async function openOf(context: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const texts = textsOf(visit.language).disputes;
  const { disputes, total } = await openDisputes(context, visit);
  const shown = countText(visit.language, disputes.length);
  return html`${tableOf(visit, disputes, texts.none)}${total > BigInt(openMax) ? html`<p class="muted">${fillText(texts.first, { count: shown })}</p>` : ""}`;
}

async function allOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).disputes;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const path = `${base}/disputes`;
  const found = await peers.disputes.listDisputes({ merchantId, environment, limit: pageSize, afterId });
  const next = found.hasMore ? found.disputes.at(-1)?.dispute?.id : "";
  return html`${tableOf(visit, found.disputes, texts.noneAtAll)}
${cursorLinks(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}`;
}

function tableOf({ language, base }: MerchantVisit, disputes: readonly DisputeRecord[], empty: string): Html {
  const texts = textsOf(language).disputes;
  const state = ({ dispute, acceptance }: DisputeRecord) => {
    const { text, tone } = stateOf(language, "moneyStates", dispute?.status ?? "");
    return html`${toneChip(text, tone)}${acceptance === "" ? "" : html`<br><span class="hint">${texts.accepting}</span>`}`;
  };
  return htmlTable({
    caption: texts.title,
    rows: disputes,
    empty,
    columns: [
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ dispute, currency }) =>
          html`<a href="${base}/disputes/${dispute?.id ?? ""}">${moneyText(language, dispute?.amount ?? 0n, currency)}</a>`,
      },
      { heading: texts.status, cell: state },
      { heading: texts.due, cell: ({ dispute }) => dayText(language, dispute?.evidenceDueAt) },
      { heading: texts.reason, cell: ({ dispute }) => translateCode(language, "reasons", dispute?.reason ?? "") },
      { heading: texts.opened, cell: ({ dispute }) => dayText(language, dispute?.openedAt) },
    ],
  });
}
