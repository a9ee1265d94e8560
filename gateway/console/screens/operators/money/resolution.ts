// The forms of a parked operation: retry, or resolve with proof.
import { type Html, html } from "../../../../html.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { choiceField, type Problems, problemOf, textArea, textField, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { renderDetails } from "../../../view/operator-forms.ts";

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
  const field = textFields({ connector_ref: input.connectorRef }, problems);
  const outcome = choiceField({
    ...{ name: "resolution", label: texts.outcome, values: [input.resolution], one: true },
    problem: problemOf(problems, "resolution"),
    choices: [
      { value: "happened", label: texts.happened, hint: texts.happenedHint },
      { value: "never", label: texts.never, hint: texts.neverHint },
    ],
  });
  const proof = textArea({
    ...{ name: "proof", label: texts.proof, hint: texts.proofHint, value: input.proof },
    ...{ maxlength: 2_000, problem: problemOf(problems, "proof") },
  });
  const connectorRef = field("connector_ref", texts.connectorRef, { hint: texts.connectorRefHint, maxlength: 255 });
  const resolve = postForm(visit, {
    action: `/operations/${operationId}/resolve`,
    fields: [outcome, connectorRef, proof],
    button: texts.resolve,
    tone: "danger",
  });
  return html`${renderDetails(texts.retry, html`<p>${texts.retryText}</p>${retry}`)}
${renderDetails(texts.resolve, html`<p>${texts.resolveText} ${ownTexts.proofNext}</p>${resolve}`, problems.length > 0)}`;
}
