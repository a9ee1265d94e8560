// Disputes, and one dispute with its payment and its response. While it is open, it can be answered or accepted.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { onceKey } from "../../../http/once.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { cardText, codesOf, stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, type Language, pluralText, textsOf } from "../../../texts/texts.ts";
import { partLinks } from "../../../view/operator-forms.ts";
import { cursorLinks, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, dayText, moneyText } from "../../../view/values.ts";
import { acceptRoutes } from "./accept.ts";
import { answerRoutes } from "./answer.ts";
import { type AnswerDraft, answerFacts, answerFiles, answerForm } from "./answer-form.ts";
import { fileRoute, type KnownFiles, knownFiles } from "./evidence-file.ts";

function disputeRoutes(context: ConsoleContext): void {
  const show = (visit: MerchantVisit, record: DisputeRecord, draft: AnswerDraft) =>
    disputePage(context, visit, record, draft);
  merchantPage(context, "/disputes/:disputeId", "payments.read", async (visit) => {
    const record = await disputeOf(context, visit);
    return await show(visit, record, emptyDraft(record));
  });
  fileRoute(context);
  answerRoutes(context, disputeOf, show);
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

async function disputePage(
  context: ConsoleContext,
  visit: MerchantVisit,
  record: DisputeRecord,
  draft: AnswerDraft,
): Promise<Page> {
  const { language, base, may } = visit;
  const texts = textsOf(language).disputes;
  const { dispute } = record;
  if (!dispute) throw new Failure("NOT_FOUND");
  const amount = moneyText(language, dispute.amount, record.currency);
  const { text, tone } = stateOf(language, "moneyStates", dispute.status);
  const mayAnswer = may("disputes.answer") && (isOpen(record) || draft.isOpen === true);
  const [facts, files] = await Promise.all([disputeFacts(context, visit, record), knownFiles(context, visit, record)]);
  return {
    title: fillText(texts.disputeOf, { amount }),
    status: draft.problems.length > 0 ? 422 : 200,
    body: html`<div class="heading"><h1>${fillText(texts.disputeOf, { amount })}</h1>${toneChip(text, tone)}</div>
<div class="panel">${facts}</div>
${acceptanceNote(visit, record)}${sentEvidence(visit, record, files)}
${mayAnswer ? html`${advice(language, dispute.reason)}${answerForm(visit, dispute.id, draft, files)}` : ""}
${mayAnswer && isOpen(record) ? html`<p><a class="button danger" href="${base}/disputes/${dispute.id}/accept">${texts.accept}</a></p>` : ""}`,
  };
}

/** The deadline and the amount first, then the customer and the order. */
async function disputeFacts({ peers }: ConsoleContext, visit: MerchantVisit, record: DisputeRecord): Promise<Html> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).disputes;
  const { dispute, currency, paymentId } = record;
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment || !dispute) throw new Failure("NOT_FOUND");
  const amount = moneyText(language, dispute.amount, currency);
  const total = moneyText(language, payment.amount, currency);
  const due = dateTimeText(language, dispute.evidenceDueAt);
  return factList([
    [texts.due, due === "" ? "" : html`<strong>${due}</strong> ${isOpen(record) ? timeLeft(language, dispute) : ""}`],
    [texts.amount, dispute.amount === payment.amount ? amount : fillText(texts.partOf, { amount, total })],
    [texts.buyer, payment.customerEmail],
    [texts.reference, payment.orderReference],
    [texts.description, payment.description],
    [texts.card, cardText(payment.card)],
    [texts.reason, translateCode(language, "reasons", dispute.reason)],
    [texts.opened, dateTimeText(language, dispute.openedAt)],
    [texts.payment, html`<a href="${base}/payments/${paymentId}">${texts.openPayment}</a>`],
    [texts.id, renderCopyable(language, dispute.id)],
    [texts.processorId, renderCopyable(language, dispute.connectorDisputeId)],
  ]);
}

function timeLeft(language: Language, { evidenceDueAt }: NonNullable<DisputeRecord["dispute"]>): Html | string {
  const texts = textsOf(language).disputes;
  if (!evidenceDueAt) return "";
  const days = Math.floor((timestampMs(evidenceDueAt) - Date.now()) / 86_400_000);
  if (days < 0) return toneChip(texts.overdue, "bad");
  return days < 1 ? toneChip(texts.lastDay, "bad") : toneChip(pluralText(language, texts.daysLeft, days), "wait");
}

/** Advice for the reason of the dispute. */
function advice(language: Language, reason: string): Html {
  const texts = textsOf(language).disputes;
  const known = reason === "unrecognized" ? "fraudulent" : reason;
  const code = codesOf("disputeAdvice").includes(known) ? known : "general";
  const lines = translateCode(language, "disputeAdvice", code).split("\n");
  return html`<section class="panel"><h2>${texts.advice}</h2><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`;
}

function acceptanceNote({ language }: MerchantVisit, { acceptance }: DisputeRecord): Html | string {
  const texts = textsOf(language).disputes;
  if (acceptance === "") return "";
  return html`<p class="warning">${acceptance === "accepted" ? texts.accepted : texts.accepting}</p>`;
}

function sentEvidence(visit: MerchantVisit, record: DisputeRecord, files: KnownFiles): Html | string {
  const texts = textsOf(visit.language).disputes;
  const { dispute, evidence } = record;
  if (!evidence || evidence.status === "not_submitted") return "";
  const facts = answerFacts(visit, dispute?.id ?? "", evidence.texts, evidence.files, files);
  return html`<section class="panel"><h2>${texts.evidence}</h2><p>${evidence.status === "submitted" ? texts.submitted : texts.sending} ${dayText(visit.language, evidence.submittedAt)}</p>${facts}</section>`;
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
