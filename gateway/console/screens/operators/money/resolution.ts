// What an operator can do about a parked operation: have it asked about again, or end it by what they have found out.
import { type Html, html } from "../../../../html.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { choiceField, textArea, textField } from "../../../view/fields.ts";
import { disclosed, type Problems, postForm, problemOf } from "../../../view/operator-forms.ts";

/** An operator's word, as it was typed. */
export interface Word {
  /** `happened` or `never`. */
  readonly resolution: string;
  readonly connectorRef: string;
  readonly proof: string;
}
export const emptyWord: Word = { resolution: "", connectorRef: "", proof: "" };

export function resolutionForms(visit: OperatorVisit, operationId: string, problems: Problems, word: Word): Html {
  const texts = textsOf(visit.language).operations;
  const ownTexts = textsOf(visit.language).operatorForms;
  const retry = postForm(visit, {
    action: `/operations/${operationId}/retry`,
    fields: [textField({ name: "note", label: ownTexts.note, hint: ownTexts.noteHint, value: "", maxlength: 2_000 })],
    button: texts.retry,
  });
  const resolve = postForm(visit, {
    action: `/operations/${operationId}/resolve`,
    fields: [
      choiceField({
        name: "resolution",
        label: texts.outcome,
        values: [word.resolution],
        problem: problemOf(problems, "resolution"),
        choices: [
          { value: "happened", label: texts.happened, hint: texts.happenedHint },
          { value: "never", label: texts.never, hint: texts.neverHint },
        ],
        one: true,
      }),
      textField({
        name: "connector_ref",
        label: texts.connectorRef,
        hint: texts.connectorRefHint,
        value: word.connectorRef,
        maxlength: 255,
        problem: problemOf(problems, "connector_ref"),
      }),
      textArea({
        name: "proof",
        label: texts.proof,
        hint: texts.proofHint,
        value: word.proof,
        maxlength: 2_000,
        problem: problemOf(problems, "proof"),
      }),
    ],
    button: texts.resolve,
    tone: "danger",
  });
  return html`${disclosed(texts.retry, html`<p>${texts.retryText}</p>${retry}`)}
${disclosed(texts.resolve, html`<p>${texts.resolveText} ${ownTexts.proofNext}</p>${resolve}`, problems.length > 0)}`;
}
