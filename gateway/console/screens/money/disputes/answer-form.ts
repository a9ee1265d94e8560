// The form of a response to a dispute, and the page that shows it before it is sent.
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { formFields } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit, Page } from "../../../session/visit.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { hiddenField, type Problems, problemOf, problemSummary, selectField, textArea } from "../../../view/fields.ts";
import { factList } from "../../../view/table.ts";
import { fileLink, type KnownFiles } from "./evidence-file.ts";

const [line, address, long] = [500, 2_000, 20_000];

/** Texts by their API name with their maximum length. The first ones are always visible. */
export const answerTexts = {
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
export type AnswerText = keyof typeof answerTexts;
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
export type AnswerFile = (typeof answerFiles)[number];

export const answerFields = {
  kind: "file_kind",
  file: "file",
  remove: "remove_file",
  added: (kind: AnswerFile) => `added_${kind}`,
} as const;

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

export function isAnswerText(name: string): name is AnswerText {
  return Object.hasOwn(answerTexts, name);
}

export function isAnswerFile(name: string): name is AnswerFile {
  return answerFiles.some((each) => each === name);
}

export function answerForm(visit: MerchantVisit, disputeId: string, draft: AnswerDraft, known: KnownFiles): Html {
  const { language, base, token } = visit;
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
    ([
      kind,
      id,
    ]) => html`<li>${texts[kind]}: ${fileLink(visit, disputeId, id, known)} ${hiddenField(answerFields.added(kind), id)}
<button class="button secondary small" name="${answerFields.remove}" value="${kind}" formaction="${path}/files" aria-label="${texts.remove} ${texts[kind]}">${texts.remove}</button></li>`,
  );
  return html`<section class="panel"><h2>${texts.answer}</h2>${draft.isAdded ? html`<p class="notice" role="status">${texts.fileAdded}</p>` : ""}${problemSummary(texts.wrong, problems)}<p>${texts.answerText}</p>
<form method="post" action="${path}/evidence" enctype="multipart/form-data">${hiddenField(formFields.token, token)}${hiddenField(onceField, draft.key)}
${firstTexts.map(field)}
<details class="more full"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="fields">${others.map(field)}</div></details>
${added.length === 0 ? "" : html`<div><h3>${texts.files}</h3><ul>${added}</ul></div>`}
${fileFields(language, path, draft.kind, problemOf(problems, answerFields.file))}
<button class="button">${texts.review}</button></form></section>`;
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

/** The last look: what is sent once, with the way back to the form. Every field travels along. */
export function reviewPage(visit: MerchantVisit, record: DisputeRecord, draft: AnswerDraft, known: KnownFiles): Page {
  const { language, base, token } = visit;
  const texts = textsOf(language).disputes;
  const disputeId = record.dispute?.id ?? "";
  const path = `${base}/disputes/${disputeId}`;
  const fields = [
    hiddenField(formFields.token, token),
    hiddenField(onceField, draft.key),
    hiddenField(answerFields.kind, draft.kind),
    ...[...draft.texts].map(([name, text]) => hiddenField(name, text)),
    ...[...draft.files].map(([kind, id]) => hiddenField(answerFields.added(kind), id)),
  ];
  const shown = answerFacts(visit, disputeId, Object.fromEntries(draft.texts), Object.fromEntries(draft.files), known);
  return {
    title: texts.reviewTitle,
    body: html`<h1>${texts.reviewTitle}</h1><p class="warning">${texts.reviewText}</p>
<div class="panel">${shown}</div>
<form method="post" action="${path}/evidence/send" enctype="multipart/form-data">${fields}
<div class="actions"><button class="button">${texts.sendNow}</button><button class="button secondary" formaction="${path}/evidence/edit">${texts.backToEdit}</button></div></form>`,
  };
}

/** The texts and files of a response, by the names of the form. */
export function answerFacts(
  visit: MerchantVisit,
  disputeId: string,
  texts: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  known: KnownFiles,
): Html {
  const { language } = visit;
  const labels = textsOf(language).disputes;
  // A name that this release does not know is shown unchanged.
  const labelOf = (name: string) => (isAnswerText(name) || isAnswerFile(name) ? labels[name] : name);
  return factList([
    ...Object.entries(texts).map(([name, text]) => [labelOf(name), html`<span class="lines">${text}</span>`] as const),
    ...Object.entries(files).map(([name, id]) => [labelOf(name), fileLink(visit, disputeId, id, known)] as const),
  ]);
}
