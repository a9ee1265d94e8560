// One dispute with its response. While it is open, it can be answered or accepted.
import { Failure } from "#platform/values/failure.ts";
import type { DisputeRecord, Evidence } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { onceKey } from "../../../http/once.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { chip, renderCopyable } from "../../../view/pieces.ts";
import { facts } from "../../../view/table.ts";
import { day, moment, money } from "../../../view/values.ts";
import { acceptRoutes } from "./accept.ts";
import { answerRoutes } from "./answer.ts";
import { type AnswerDraft, answerFiles, answerForm, fileLabel, textLabel } from "./answer-form.ts";

export function disputeRoutes(context: ConsoleContext): void {
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
  const amount = money(language, dispute.amount, currency);
  const { text, tone } = stateOf(language, "moneyStates", dispute.status);
  const mayAnswer = may("disputes.answer") && (isOpen(record) || draft.isOpen === true);
  return {
    title: fill(texts.disputeOf, { amount }),
    status: draft.problems.length > 0 ? 422 : 200,
    body: html`<div class="heading"><h1>${fill(texts.disputeOf, { amount })}</h1>${chip(text, tone)}</div>
<div class="panel">${facts([
      [texts.reason, translateCode(language, "reasons", dispute.reason)],
      [texts.due, moment(language, dispute.evidenceDueAt)],
      [texts.opened, moment(language, dispute.openedAt)],
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
  return html`<section class="panel"><h2>${texts.evidence}</h2><p>${evidence.status === "submitted" ? texts.submitted : texts.sending} ${day(language, evidence.submittedAt)}</p>${facts(pairs)}</section>`;
}
