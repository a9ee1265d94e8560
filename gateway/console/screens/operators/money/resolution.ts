// What an operator can do about a parked operation: have it asked about again, or end it by what they have found out.
import { type Html, html } from "../../../../html.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { choiceField, textArea, textField } from "../../../view/fields.ts";
import { type Problems, postForm, problemOf, renderDetails } from "../../../view/operator-forms.ts";

/** An operator's word, as it was typed. */
export interface ResolutionInput {
  /** `happened` or `never`. */
  readonly resolution: string;
  readonly connectorRef: string;
  readonly proof: string;
}
export const emptyInput: ResolutionInput = { resolution: "", connectorRef: "", proof: "" };

export function resolutionForms(
  visit: OperatorVisit,
  operationId: string,
  problems: Problems,
  input: ResolutionInput,
): Html {
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
        values: [input.resolution],
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
        value: input.connectorRef,
        maxlength: 255,
        problem: problemOf(problems, "connector_ref"),
      }),
      textArea({
        name: "proof",
        label: texts.proof,
        hint: texts.proofHint,
        value: input.proof,
        maxlength: 2_000,
        problem: problemOf(problems, "proof"),
      }),
    ],
    button: texts.resolve,
    tone: "danger",
  });
  return html`${renderDetails(texts.retry, html`<p>${texts.retryText}</p>${retry}`)}
${renderDetails(texts.resolve, html`<p>${texts.resolveText} ${ownTexts.proofNext}</p>${resolve}`, problems.length > 0)}`;
}
