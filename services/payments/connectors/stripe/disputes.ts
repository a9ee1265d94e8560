// Disputes at Stripe: reads, uploads files, submits evidence and concedes. The submitting request itself puts our id of
// the submission into the dispute's metadata.
import { createHash } from "node:crypto";
import type Stripe from "stripe";
import { membersOf } from "#platform/values/unchecked.ts";
import type { EvidenceContent, EvidenceText } from "../../rules/evidence.ts";
import {
  type Connector,
  type DisputeReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../connector.ts";
import { type HttpAnswer, type ProcessorHttp, undecidedStatuses } from "../http.ts";
import type { EvidenceUpload } from "../order.ts";
import { apiVersion, commandAnswer, inDoubt, isStripes, mapAnswer, queryAnswer, type Refusals } from "./client.ts";
import { metadataNames, readDispute } from "./objects.ts";

// https://docs.stripe.com/api/disputes/evidence_object: texts that Stripe names differently. Its names of files lack
// our suffix, except for the last one.
const textNames: { readonly [N in EvidenceText]?: keyof Stripe.DisputeUpdateParams.Evidence } = {
  refund_policy: "refund_policy_disclosure",
  cancellation_policy: "cancellation_policy_disclosure",
};
const fileName = (name: string) => (name === "uncategorized_file" ? name : name.replace(/_file$/, ""));

// Stripe refuses both with the same error; only the dispute shows which it was.
const responding: Refusals = { codes: {}, params: {}, otherwise: "not_answerable" };

type DisputeCalls = Pick<Connector, "retrieveDispute" | "uploadFile" | "submitEvidence" | "acceptDispute">;

export function stripeDisputes(
  sdk: Stripe,
  uploads: ProcessorHttp,
  keyOf: (account: ProcessorAccount) => { readonly apiKey: string },
): DisputeCalls {
  const expand = ["charge"];
  const retrieve = async (account: ProcessorAccount, ref: string) =>
    mapAnswer(await queryAnswer(sdk.disputes.retrieve(ref, { expand }, keyOf(account))), reportOf);
  return {
    retrieveDispute: retrieve,
    uploadFile: async (account, file, key) => {
      const headers = {
        authorization: `Bearer ${keyOf(account).apiKey}`,
        "stripe-version": apiVersion,
        "idempotency-key": key,
      };
      return uploadAnswer(
        await uploads.call({ method: "POST", path: "/v1/files", headers, bytes: uploadForm(file, key) }),
      );
    },
    submitEvidence: async (account, { disputeRef, reference, texts, files }, key) => {
      const params = {
        evidence: evidenceOf({ texts, files }),
        metadata: { [metadataNames.evidence]: reference },
        submit: true,
        expand,
      };
      const sent = sdk.disputes.update(disputeRef, params, { ...keyOf(account), idempotencyKey: key });
      const answer = await commandAnswer(sent, responding, reportOf);
      if (answer.kind !== "declined") return answer;
      const now = await queryAnswer(sdk.disputes.retrieve(disputeRef, {}, keyOf(account)));
      return isKnown(now) && isOpen(now.value) ? { ...answer, code: "evidence_not_accepted" } : answer;
    },
    // The SDK gives every try its own key: under a lasting one Stripe would always repeat its first answer.
    acceptDispute: async (account, ref) => {
      const answer = await commandAnswer(sdk.disputes.close(ref, { expand }, keyOf(account)), responding, reportOf);
      if (answer.kind !== "declined") return answer;
      // A dispute that was already closed is refused, too.
      const now = await retrieve(account, ref);
      if (isKnown(now)) return now.value.status === "lost" ? now : answer;
      return inDoubt(now);
    },
  };
}

/** True if Stripe would accept a response. */
function isOpen({ status, evidence_details: { past_due: isPastDue } }: Stripe.Dispute): boolean {
  return !isPastDue && (status === "needs_response" || status === "warning_needs_response");
}

function evidenceOf({ texts, files }: EvidenceContent): Record<string, string> {
  const names: Readonly<Record<string, string>> = textNames;
  return Object.fromEntries([
    ...Object.entries(texts).map(([name, text]) => [names[name] ?? name, text] as const),
    ...Object.entries(files).map(([name, id]) => [fileName(name), id] as const),
  ]);
}

function reportOf(dispute: Stripe.Dispute): DisputeReport {
  return readDispute(dispute, typeof dispute.charge === "string" ? [] : [dispute.charge]);
}

/** The file as Stripe's form, piece by piece. The same key gives the same bytes. */
function uploadForm({ name, type, size, pieces }: EvidenceUpload, key: string) {
  const boundary = `tollbooth-${createHash("sha256").update(key).digest("hex").slice(0, 40)}`;
  const extension = type.slice(type.indexOf("/") + 1);
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\ndispute_evidence\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}.${extension}"\r\n` +
      `Content-Type: ${type}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + size + tail.length,
    pieces: async function* () {
      yield head;
      yield* pieces();
      yield tail;
    },
  };
}

/** An upload in doubt leaves at most an unused file. */
function uploadAnswer(answer: HttpAnswer): ProcessorAnswer<string> {
  if (answer.kind === "unsent") return { kind: "not_sent", cause: answer.cause };
  if (answer.kind === "silent") return { kind: "unknown", cause: answer.cause };
  const { status, body } = answer;
  const cause = new Error(`Stripe answered ${status} to an upload`);
  if (!isStripes(status, body) || undecidedStatuses.has(status) || status >= 500) return { kind: "unknown", cause };
  if (status === 401 || status === 403) return { kind: "not_sent", cause };
  // The key was used for another upload, whose outcome is not known here.
  if (membersOf(membersOf(body).error).type === "idempotency_error") return { kind: "unknown", cause };
  if (status >= 400) return { kind: "declined", code: "evidence_not_accepted", message: cause.message };
  const { id } = membersOf(body);
  return typeof id === "string" ? { kind: "succeeded", value: id } : { kind: "unknown", cause };
}
