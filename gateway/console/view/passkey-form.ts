// A form that a passkey fills in: the script asks the authenticator with the options of the form, puts the answer
// into a hidden field and sends the form as if it had been typed.
import { type Html, html } from "../../docs/html.ts";
import { dataBlock } from "../layout/document.ts";
import { hidden } from "./fields.ts";

export interface PasskeyFormParts {
  readonly action: string;
  /** `get`: prove with one that is there; `create`: make one. */
  readonly kind: "get" | "create";
  /**
   * What the authenticator is asked; or where the script gets it when the button is pressed, and what is said if
   * not.
   */
  readonly asked:
    | { readonly optionsJson: string; readonly challengeId: string }
    | { readonly optionsPath: string; readonly failed: string };
  readonly names: { readonly challenge: string; readonly response: string };
  /** Other fields of the form. */
  readonly fields: readonly Html[];
  readonly label: string;
}

export function passkeyForm({ action, kind, asked, names, fields, label }: PasskeyFormParts): Html {
  const isAsked = "challengeId" in asked;
  const later = isAsked ? "" : html` data-options="${asked.optionsPath}" data-failed="${asked.failed}"`;
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-challenge="${names.challenge}" data-response="${names.response}"${later}>
${hidden(names.challenge, isAsked ? asked.challengeId : "")}${hidden(names.response, "")}${fields}
<p class="problem" role="alert" data-passkey-problem hidden></p>
<button class="button">${label}</button>${isAsked ? dataBlock("passkey", asked.optionsJson) : ""}</form>`;
}
