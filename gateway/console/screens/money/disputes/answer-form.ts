// The form of a dispute response: texts, and files that are uploaded one by one. The form holds the uploaded files'
// ids, so nothing else is stored until it is sent.
import { type Html, html } from "../../../../html.ts";
import { formFields } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { hidden, type Problems, problemOf, problemSummary, selectField, textArea } from "../../../view/fields.ts";

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
type AnswerText = keyof typeof answerTexts;
const firstTexts: readonly AnswerText[] = ["product_description", "uncategorized_text"];

/** Files by their API name. */
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

/** Names of the other fields. */
export const answerFields = { kind: "file_kind", file: "file", added: (kind: AnswerFile) => `added_${kind}` } as const;

export interface AnswerDraft {
  readonly texts: ReadonlyMap<AnswerText, string>;
  /** File ids. */
  readonly files: ReadonlyMap<AnswerFile, string>;
  /** Kind of the next file. */
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
    ([kind, id]) => html`<li>${texts[kind]} <code>${id}</code>${hidden(answerFields.added(kind), id)}</li>`,
  );
  return html`<section class="panel"><h2>${texts.answer}</h2>${draft.isAdded ? html`<p class="notice" role="status">${texts.fileAdded}</p>` : ""}${problemSummary(texts.wrong, problems)}<p>${texts.answerText}</p>
<form method="post" action="${path}/evidence" enctype="multipart/form-data">${hidden(formFields.token, token)}${hidden(onceField, draft.key)}
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
