// Answers disputes: documents and a defense through the Disputes API, which has no keys, reads or references of ours.
// A note is stored before a defense is sent, and a webhook proves it:
// https://docs.adyen.com/risk-management/disputes-api

import { buffer } from "node:stream/consumers";
import { clockNow } from "#platform/values/clock.ts";
import { declinedAnswer } from "../answer.ts";
import {
  type Connector,
  type DisputeReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../connector.ts";
import type { EvidenceOrder, EvidenceUpload } from "../order.ts";
import type { AdyenClient } from "./client.ts";
import { defenseFor, describeNeed, disputeAnswer, reasonsIn } from "./defense.ts";
import { disputeKinds, foldDispute } from "./dispute.ts";
import type { AnswerLog } from "./notices.ts";
import { textPdf } from "./text-pdf.ts";

type DisputeCalls = Pick<Connector, "retrieveDispute" | "uploadFile" | "submitEvidence" | "acceptDispute">;

export function adyenDisputes(client: AdyenClient, log: AnswerLog): DisputeCalls {
  const dispute = (account: ProcessorAccount, ref: string) => new DisputeCall(client, log, account, ref);
  return {
    retrieveDispute: async (account, ref) => {
      const report = foldDispute(await dispute(account, ref).notices());
      if (report) return { kind: "succeeded", value: report };
      return { kind: "unknown", cause: new Error("Adyen has not reported this dispute") };
    },
    // Adyen takes a document for a reason of the dispute, so it is sent with the evidence.
    uploadFile: async (_account, file) => {
      const refusal = fileRefusal(file);
      return refusal === undefined
        ? { kind: "succeeded", value: file.name }
        : declinedAnswer("evidence_not_accepted", refusal);
    },
    submitEvidence: (account, order) => defend(dispute(account, order.disputeRef), order),
    acceptDispute: async (account, ref) => {
      const one = dispute(account, ref);
      const before = foldDispute(await one.notices());
      if (before?.status === "lost") return { kind: "succeeded", value: before };
      if (before && !isOpen(before)) return declinedAnswer("not_answerable", "it takes no answer");
      const answer = await one.call("acceptDispute", {}, () => true);
      return isKnown(answer) ? await one.note(disputeKinds.accepted, "") : answer;
    },
  };
}

async function defend(dispute: DisputeCall, order: EvidenceOrder): Promise<ProcessorAnswer<DisputeReport>> {
  const notices = await dispute.notices();
  const before = foldDispute(notices);
  if (before && before.evidenceReference === order.reference) return { kind: "succeeded", value: before };
  if (before && !isOpen(before)) return declinedAnswer("not_answerable", "it takes no answer");
  const documents = await documentsOf(order);
  if (typeof documents === "string") return declinedAnswer("evidence_not_accepted", documents);
  const reasons = await dispute.call("retrieveApplicableDefenseReasons", {}, reasonsIn);
  if (!isKnown(reasons)) return notDefended(reasons);
  const reason = defenseFor(reasons.value, documents.length);
  if (!reason) return declinedAnswer("evidence_not_accepted", describeNeed(reasons.value));
  const defenseDocuments = documents.map((document, i) => ({ ...document, defenseDocumentTypeCode: reason.types[i] }));
  const supplied = await dispute.call("supplyDefenseDocument", { defenseDocuments }, () => true);
  if (supplied.kind === "declined") return { ...supplied, code: "evidence_not_accepted" };
  if (!isKnown(supplied)) return notDefended(supplied);
  await dispute.note(disputeKinds.sent, order.reference);
  const answer = await dispute.call("defendDispute", { defenseReasonCode: reason.code }, () => true);
  // The refusal of a second defense proves nothing about an earlier one without an answer.
  const wasSent = notices.some(({ kind }) => kind === disputeKinds.sent);
  if (answer.kind === "declined" && wasSent) return { kind: "unknown", cause: new Error(answer.message) };
  return isKnown(answer) ? await dispute.note(disputeKinds.defended, order.reference) : answer;
}

/** One dispute at Adyen. */
class DisputeCall {
  readonly #client: AdyenClient;
  readonly #log: AnswerLog;
  readonly #account: ProcessorAccount;
  readonly #ref: string;

  constructor(client: AdyenClient, log: AnswerLog, account: ProcessorAccount, ref: string) {
    this.#client = client;
    this.#log = log;
    this.#account = account;
    this.#ref = ref;
  }

  async notices() {
    return (await this.#log.about(this.#account, this.#ref)).filter(({ ref }) => ref === this.#ref);
  }

  async call<T>(method: string, more: object, value: (body: unknown) => T): Promise<ProcessorAnswer<T>> {
    const json = { merchantAccountCode: this.#account.externalAccountId, disputePspReference: this.#ref, ...more };
    return disputeAnswer(await this.#client.callDisputes(this.#account, method, json), value);
  }

  /** Stores what was done. @returns the dispute with it */
  async note(kind: string, evidence: string): Promise<ProcessorAnswer<DisputeReport>> {
    const at = this.#client.time() ?? clockNow();
    const ids = { id: `${kind}:${this.#ref}:${evidence}`, ref: this.#ref, originalRef: "", reference: "" };
    await this.#log.keep(this.#account, { ...ids, kind, at, details: { evidence } });
    const report = foldDispute(await this.notices());
    return report
      ? { kind: "succeeded", value: report }
      : { kind: "unknown", cause: new Error("Adyen has not reported this dispute") };
  }
}

function isOpen({ status }: DisputeReport): boolean {
  return status === "needs_response" || status === "warning_needs_response";
}

/** Without the defense itself, documents at Adyen change nothing. */
function notDefended(answer: ProcessorAnswer<unknown>): ProcessorAnswer<never> {
  if (answer.kind === "declined") return answer;
  return { kind: "not_sent", cause: "cause" in answer ? answer.cause : new Error("Adyen gave no answer") };
}

interface Document {
  readonly content: string;
  readonly contentType: string;
}

/** The files, and one PDF of all texts; a text: why they are refused. */
async function documentsOf({ texts, files, uploads }: EvidenceOrder): Promise<readonly Document[] | string> {
  const documents: Document[] = [];
  for (const ref of Object.values(files)) {
    const file = uploads.find(({ name }) => name === ref);
    if (!file) return `the file ${ref} is missing`;
    documents.push({ content: (await buffer(file.pieces())).toString("base64"), contentType: file.type });
  }
  const sections = Object.entries(texts).map(([name, text]) => ({ title: name.replaceAll("_", " "), text }));
  if (sections.length > 0) {
    documents.push({ content: textPdf(sections).toString("base64"), contentType: "application/pdf" });
  }
  return documents;
}

const mebibyte = 1 << 20;
// https://docs.adyen.com/risk-management/disputes-api/defense-requirements
const bytesMax: Readonly<Record<string, number>> = { "application/pdf": 2 * mebibyte, "image/jpeg": 10 * mebibyte };

function fileRefusal({ type, size }: EvidenceUpload): string | undefined {
  const max = bytesMax[type];
  if (max === undefined) return "Adyen takes PDF and JPEG files";
  return size > max ? `Adyen takes at most ${max / mebibyte} MiB of ${type}` : undefined;
}
