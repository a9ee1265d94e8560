// The form of a dispute response: it adds a file, or sends everything to the processor once. It holds the uploaded
// files' ids, so nothing else is stored until it is sent.
import { asFailure, Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { type Form, formFields, isText } from "../../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import type { Upload } from "../../../http/upload.ts";
import { merchantUpload } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { hiddenField, type Problems, problemOf, problemSummary, selectField, textArea } from "../../../view/fields.ts";
import { storeFile } from "./store-file.ts";

type File = Upload["file"];
type Find = (context: ConsoleContext, visit: MerchantVisit) => Promise<DisputeRecord>;
type Show = (visit: MerchantVisit, record: DisputeRecord, draft: AnswerDraft) => Page;

const needs = { action: "disputes.answer" };

export function answerRoutes(context: ConsoleContext, find: Find, show: Show): void {
  merchantUpload(context, "/disputes/:disputeId/files", needs, async (visit, form, file) => {
    const record = await find(context, visit);
    const draft = await withFile(context, visit, record, form, file);
    if (draft.problems.length > 0 || file) return show(visit, record, draft);
    const problem = [answerFields.file, textsOf(visit.language).disputes.noFile] as const;
    return show(visit, record, { ...draft, problems: [problem] });
  });
  merchantUpload(context, "/disputes/:disputeId/evidence", needs, async (visit, form, file) => {
    const record = await find(context, visit);
    const draft = await withFile(context, visit, record, form, file);
    const problems = [...draft.problems, ...problemsOf(visit, draft)];
    if (problems.length > 0) return show(visit, record, { ...draft, isAdded: false, problems });
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
    answerFiles.map((kind) => [kind, form.raw(answerFields.added(kind))] as const).filter(([, id]) => isId("file", id)),
  );
  const sentKind = form.raw(answerFields.kind);
  const kind = isAnswerFile(sentKind) ? sentKind : answerFiles[0];
  const draft = { texts, files, kind, key: form.raw(onceField), problems: [] };
  if (!file) return draft;
  if (kind !== sentKind) throw new Failure("NOT_FOUND");
  const stored = await storeFile(context, visit, record.dispute?.id ?? "", file.file);
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
    return show(visit, now, { ...draft, isAdded: false, key, problems, isOpen: refusal.isOpen });
  }
}

const [line, address, long] = [500, 2_000, 20_000];

/** Texts by their API name with their maximum length. The first ones are always visible. */
const answerTexts = {
  product_description: long,
  uncategorized_text: long,
  customer_name: line,
  customer_email_address: line,
  customer_purchase_ip: line,
  billing_address: address,
  service_date: line,
  shipping_carrier: line,
  shipping_tracking_number: line,
  shipping_date: line,
  shipping_address: address,
  refund_policy: long,
  refund_refusal_explanation: long,
  cancellation_policy: long,
  cancellation_rebuttal: long,
  duplicate_charge_explanation: long,
  access_activity_log: long,
} as const;
type AnswerText = keyof typeof answerTexts;
const firstTexts: readonly AnswerText[] = ["product_description", "uncategorized_text"];

export const answerFiles = [
  "receipt_file",
  "customer_communication_file",
  "shipping_documentation_file",
  "service_documentation_file",
  "customer_signature_file",
  "refund_policy_file",
  "cancellation_policy_file",
  "uncategorized_file",
] as const;
type AnswerFile = (typeof answerFiles)[number];

const answerFields = { kind: "file_kind", file: "file", added: (kind: AnswerFile) => `added_${kind}` } as const;

export interface AnswerDraft {
  readonly texts: ReadonlyMap<AnswerText, string>;
  readonly files: ReadonlyMap<AnswerFile, string>;
  readonly kind: AnswerFile;
  readonly key: string;
  readonly problems: Problems;
  /** True after an upload. */
  readonly isAdded?: boolean;
  /** The response may have been sent, so the form stays for a retry. */
  readonly isOpen?: boolean;
}

function isAnswerText(name: string): name is AnswerText {
  return Object.hasOwn(answerTexts, name);
}

function isAnswerFile(name: string): name is AnswerFile {
  return answerFiles.some((each) => each === name);
}

/** A name that this release does not know is shown unchanged. */
export function textLabel(language: Language, name: string): string {
  return isAnswerText(name) ? textsOf(language).disputes[name] : name;
}

export function fileLabel(language: Language, name: string): string {
  return isAnswerFile(name) ? textsOf(language).disputes[name] : name;
}

export function answerForm({ language, base, token }: MerchantVisit, disputeId: string, draft: AnswerDraft): Html {
  const texts = textsOf(language).disputes;
  const path = `${base}/disputes/${disputeId}`;
  const { problems, files } = draft;
  // Text areas only: Enter in a one-line field would send the form.
  const field = (name: AnswerText) => {
    const max = answerTexts[name];
    const value = draft.texts.get(name) ?? "";
    const parts = { name, label: texts[name], value, maxlength: max, problem: problemOf(problems, name) };
    return textArea({ ...parts, rows: max === line ? 1 : 4 });
  };
  const others = Object.keys(answerTexts)
    .filter(isAnswerText)
    .filter((name) => !firstTexts.includes(name));
  const isMore = others.some((name) => draft.texts.has(name) || problemOf(problems, name) !== "");
  const added = [...files].map(
    ([kind, id]) => html`<li>${texts[kind]} <code>${id}</code>${hiddenField(answerFields.added(kind), id)}</li>`,
  );
  return html`<section class="panel"><h2>${texts.answer}</h2>${draft.isAdded ? html`<p class="notice" role="status">${texts.fileAdded}</p>` : ""}${problemSummary(texts.wrong, problems)}<p>${texts.answerText}</p>
<form method="post" action="${path}/evidence" enctype="multipart/form-data">${hiddenField(formFields.token, token)}${hiddenField(onceField, draft.key)}
${firstTexts.map(field)}
<details class="more full"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="fields">${others.map(field)}</div></details>
${added.length === 0 ? "" : html`<div><h3>${texts.files}</h3><ul>${added}</ul></div>`}
${fileFields(language, path, draft.kind, problemOf(problems, answerFields.file))}
<button class="button">${texts.send}</button></form></section>`;
}

/** Last in the form, because the server reads the other fields before the file. */
function fileFields(language: Language, path: string, chosen: AnswerFile, problem: string): Html {
  const texts = textsOf(language).disputes;
  const { kind, file } = answerFields;
  const choices = answerFiles.map((value) => ({ value, label: texts[value] }));
  return html`<fieldset class="field file-fields"><legend>${texts.file}</legend><p class="hint" id="file-hint">${texts.fileHint}</p>
${problem === "" ? "" : html`<p class="problem" id="file-problem">${problem}</p>`}
${selectField({ name: kind, label: texts.fileKind, value: chosen, choices })}
<label class="visually-hidden" for="${file}">${texts.file}</label><input id="${file}" name="${file}" type="file" accept=".pdf,.jpg,.jpeg,.png" aria-describedby="file-hint">
<button class="button secondary" formaction="${path}/files">${texts.addFile}</button></fieldset>`;
}
