// The form that answers a dispute: texts, and files that are added one by one. What was added stands in the form by its
// id, so that nothing is kept anywhere until it is sent.
import { type Html, html } from "../../../../html.ts";
import { formFields } from "../../../http/form.ts";
import { onceField } from "../../../http/once.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { hidden, problemSummary, selectField, textArea } from "../../../view/fields.ts";

const [line, address, long] = [500, 2_000, 20_000];

/** Texts by their public names, with their longest; the first ones stand open. */
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

/** Files by their public names. */
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

/** Names of the fields beside the texts. */
export const answerFields = { kind: "file_kind", file: "file", added: (kind: AnswerFile) => `added_${kind}` } as const;

/** The form as it stands. */
export interface Answering {
  readonly texts: ReadonlyMap<AnswerText, string>;
  /** Ids. */
  readonly files: ReadonlyMap<AnswerFile, string>;
  /** What the next file is said to be. */
  readonly kind: AnswerFile;
  readonly key: string;
  readonly problems: readonly (readonly [field: string, text: string])[];
  /** A file has just been added. */
  readonly isAdded?: boolean;
  /** It may have been sent: the form stays, whatever the dispute says. */
  readonly isOpen?: boolean;
}

export function isAnswerText(name: string): name is AnswerText {
  return Object.hasOwn(answerTexts, name);
}

export function isAnswerFile(name: string): name is AnswerFile {
  return answerFiles.some((known) => known === name);
}

/** A name that this release does not know is shown as it is. */
export function textLabel(language: Language, name: string): string {
  return isAnswerText(name) ? textsOf(language).disputes[name] : name;
}

export function fileLabel(language: Language, name: string): string {
  return isAnswerFile(name) ? textsOf(language).disputes[name] : name;
}

export function answerForm({ language, base, token }: MerchantVisit, disputeId: string, answering: Answering): Html {
  const texts = textsOf(language).disputes;
  const path = `${base}/disputes/${disputeId}`;
  const { problems, files } = answering;
  const problem = (field: string) => problems.find(([at]) => at === field)?.[1] ?? "";
  // Areas alone: Enter in a line would send a form that can be sent once.
  const field = (name: AnswerText) => {
    const max = answerTexts[name];
    const value = answering.texts.get(name) ?? "";
    const parts = { name, label: texts[name], value, maxlength: max, problem: problem(name) };
    return textArea({ ...parts, rows: max === line ? 1 : 4 });
  };
  const others = Object.keys(answerTexts)
    .filter(isAnswerText)
    .filter((name) => !firstTexts.includes(name));
  const isMore = others.some((name) => answering.texts.has(name) || problem(name) !== "");
  const added = [...files].map(
    ([kind, id]) => html`<li>${texts[kind]} <code>${id}</code>${hidden(answerFields.added(kind), id)}</li>`,
  );
  return html`<section class="panel"><h2>${texts.answer}</h2>${answering.isAdded ? html`<p class="notice" role="status">${texts.fileAdded}</p>` : ""}${problemSummary(texts.wrong, problems)}<p>${texts.answerText}</p>
<form method="post" action="${path}/evidence" enctype="multipart/form-data">${hidden(formFields.token, token)}${hidden(onceField, answering.key)}
${firstTexts.map(field)}
<details class="more full"${isMore ? html` open` : ""}><summary>${texts.more}</summary><div class="fields">${others.map(field)}</div></details>
${added.length === 0 ? "" : html`<div><h3>${texts.files}</h3><ul>${added}</ul></div>`}
${fileFields(language, path, answering.kind, problem(answerFields.file))}
<button class="button">${texts.send}</button></form></section>`;
}

/** Last in the form: what stands before a file is known before the file is read. */
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
