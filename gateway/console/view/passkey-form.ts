// A form that a passkey fills in: the script asks the authenticator with the options beside the form, puts the answer
// into a hidden field and sends the form as if it had been typed.
import { type Html, html } from "../../docs/html.ts";
import { dataBlock } from "../layout/document.ts";
import { hidden } from "./fields.ts";

export interface PasskeyFormParts {
  readonly action: string;
  /** `get`: prove with one that is there; `create`: make one. */
  readonly kind: "get" | "create";
  readonly optionsJson: string;
  readonly challengeId: string;
  readonly names: { readonly challenge: string; readonly response: string };
  /** Other fields of the form. */
  readonly fields: readonly Html[];
  readonly label: string;
}

export function passkeyForm({ action, kind, optionsJson, challengeId, names, fields, label }: PasskeyFormParts): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-response="${names.response}">
${hidden(names.challenge, challengeId)}${hidden(names.response, "")}${fields}
<p class="problem" role="alert" data-passkey-problem hidden></p>
<button class="button">${label}</button>${dataBlock("passkey", optionsJson)}</form>`;
}
