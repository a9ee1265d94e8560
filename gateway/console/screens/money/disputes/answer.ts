// Responds to a dispute: adds or removes a file, shows everything before it is sent, and sends it to the processor
// once. The forms hold texts and the uploaded files' ids, so nothing else is stored until it is sent.
import { asFailure, Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Form, isText } from "../../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import type { Upload } from "../../../http/upload.ts";
import { merchantUpload } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import {
  type AnswerDraft,
  type AnswerFile,
  answerFields,
  answerFiles,
  answerTexts,
  isAnswerFile,
  isAnswerText,
  reviewPage,
} from "./answer-form.ts";
import { knownFiles, storeFile } from "./evidence-file.ts";

type File = Upload["file"];
type Find = (context: ConsoleContext, visit: MerchantVisit) => Promise<DisputeRecord>;
type Show = (visit: MerchantVisit, record: DisputeRecord, draft: AnswerDraft) => Promise<Page>;

const needs = { action: "disputes.answer" };

export function answerRoutes(context: ConsoleContext, find: Find, show: Show): void {
  const path = "/disputes/:disputeId";
  merchantUpload(context, `${path}/files`, needs, async (visit, form, file) => {
    const record = await find(context, visit);
    const draft = await withFile(context, visit, record, form, file);
    const isOther = draft.problems.length > 0 || file || form.has(answerFields.remove);
    if (isOther) return await show(visit, record, draft);
    const problem = [answerFields.file, textsOf(visit.language).disputes.noFile] as const;
    return await show(visit, record, { ...draft, problems: [problem] });
  });
  merchantUpload(context, `${path}/evidence`, needs, async (visit, form, file) => {
    const record = await find(context, visit);
    const draft = await withFile(context, visit, record, form, file);
    const problems = [...draft.problems, ...problemsOf(visit, draft)];
    if (problems.length > 0) return await show(visit, record, { ...draft, isAdded: false, problems });
    return reviewPage(visit, record, draft, await knownFiles(context, visit, record));
  });
  merchantUpload(context, `${path}/evidence/edit`, needs, async (visit, form) => {
    const record = await find(context, visit);
    return await show(visit, record, await withFile(context, visit, record, form, undefined));
  });
  merchantUpload(context, `${path}/evidence/send`, needs, async (visit, form) => {
    const record = await find(context, visit);
    const draft = await withFile(context, visit, record, form, undefined);
    const problems = problemsOf(visit, draft);
    if (problems.length > 0) return await show(visit, record, { ...draft, problems });
    return await send(context, visit, record, { form, draft, find, show });
  });
}

async function withFile(
  context: ConsoleContext,
  visit: MerchantVisit,
  record: DisputeRecord,
  form: Form,
  file: File,
): Promise<AnswerDraft> {
  const texts = new Map(
    Object.keys(answerTexts)
      .filter(isAnswerText)
      .map((name) => [name, form.text(name)] as const)
      .filter(([, text]) => text !== ""),
  );
  const files = new Map(
    answerFiles
      .map((kind) => [kind, form.raw(answerFields.added(kind))] as const)
      .filter(([kind, id]) => isId("file", id) && form.raw(answerFields.remove) !== kind),
  );
  const sentKind = form.raw(answerFields.kind);
  const kind = isAnswerFile(sentKind) ? sentKind : answerFiles[0];
  const draft = { texts, files, kind, key: form.raw(onceField), problems: [] };
  if (!file) return draft;
  if (kind !== sentKind) throw new Failure("NOT_FOUND");
  const stored = await storeFile(context, visit, record.dispute?.id ?? "", file);
  if ("problem" in stored)
    return { ...draft, problems: [[answerFields.file, textsOf(visit.language).disputes[stored.problem]]] };
  return { ...draft, files: new Map<AnswerFile, string>([...files, [kind, stored.id]]), isAdded: true };
}

function problemsOf({ language }: MerchantVisit, { texts, files }: AnswerDraft): [string, string][] {
  const labels = textsOf(language).disputes;
  if (texts.size + files.size === 0) return [["product_description", labels.emptyAnswer]];
  return [...texts]
    .filter(([name, text]) => !isText(text, answerTexts[name]))
    .map(([name]) => [name, `${labels[name]}: ${labels.refused}`]);
}

const refusals = {
  DISPUTE_NOT_ANSWERABLE: { text: "over", isOpen: false },
  INVALID_BODY: { text: "refused", isOpen: false },
  IDEMPOTENCY_KEY_REUSE: { text: "over", isOpen: false },
  IDEMPOTENCY_CONFLICT: { text: "busy", isOpen: true },
  CONNECTOR_ERROR: { text: "processorRejected", isOpen: true },
  SERVICE_UNAVAILABLE: { text: "unknown", isOpen: true },
} as const;

interface SendInput {
  readonly form: Form;
  readonly draft: AnswerDraft;
  readonly find: Find;
  readonly show: Show;
}

async function send(
  context: ConsoleContext,
  visit: MerchantVisit,
  record: DisputeRecord,
  { form, draft, find, show }: SendInput,
): Promise<Answer> {
  const { merchantId, environment, base, language } = visit;
  const disputeId = record.dispute?.id ?? "";
  const texts = Object.fromEntries(draft.texts);
  const files = Object.fromEntries(draft.files);
  const idempotency = onceOf(form, ["evidence", disputeId], [texts, files]);
  try {
    const input = { merchantId, environment, disputeId, texts, files, idempotency };
    const { dispute } = await context.peers.disputes.submitEvidence(input);
    const done = dispute?.evidence?.status === "submitted" ? "evidence-sent" : "evidence-pending";
    return { go: `${base}/disputes/${disputeId}`, done };
  } catch (error) {
    const refusal = new Map(Object.entries(refusals)).get(asFailure(error).reason);
    if (!refusal) throw error;
    const now = await find(context, visit).catch(() => record);
    const key = refusal.isOpen ? idempotency.key : freshKey("evidence", disputeId);
    const problems = [["product_description", textsOf(language).disputes[refusal.text]]] as const;
    return await show(visit, now, { ...draft, isAdded: false, key, problems, isOpen: refusal.isOpen });
  }
}
