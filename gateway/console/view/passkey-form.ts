// Sign-in by a passkey: a form that the script fills with the authenticator's answer and sends. Or by the company's
// identity provider: a link, since the page's policy lets forms go to our own addresses only.
import { type Html, html } from "../../html.ts";
import { dataBlock } from "../layout/document.ts";
import type { Errand } from "../session/provider.ts";
import { hidden } from "./fields.ts";

export interface PasskeyFormParts {
  readonly action: string;
  /** `get`: prove with one that is there; `create`: make one. */
  readonly kind: "get" | "create";
  /**
   * What the authenticator is asked; or where the script gets it when the button is pressed, and what is said if
   * not.
   */
  readonly optionsSource:
    | { readonly optionsJson: string; readonly challengeId: string }
    | { readonly optionsPath: string; readonly failed: string };
  readonly names: { readonly challenge: string; readonly response: string };
  /** Other fields of the form. */
  readonly fields: readonly Html[];
  readonly label: string;
}

export function passkeyForm({ action, kind, optionsSource, names, fields, label }: PasskeyFormParts): Html {
  const hasOptions = "challengeId" in optionsSource;
  const later = hasOptions
    ? ""
    : html` data-options="${optionsSource.optionsPath}" data-failed="${optionsSource.failed}"`;
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-challenge="${names.challenge}" data-response="${names.response}"${later}>
${hidden(names.challenge, hasOptions ? optionsSource.challengeId : "")}${hidden(names.response, "")}${fields}
<p class="problem" role="alert" data-passkey-problem hidden></p>
<button class="button">${label}</button>${hasOptions ? dataBlock("passkey", optionsSource.optionsJson) : ""}</form>`;
}

export const providerPath = "/sign-in/provider";

/** @param isApart in a tab of its own, which keeps what this one holds */
export function providerLink(label: string, { purpose, to }: Errand, isApart = false): Html {
  const address = `${providerPath}?${new URLSearchParams({ purpose, to }).toString()}`;
  const apart = isApart ? html` target="_blank" rel="noopener"` : "";
  return html`<a class="button secondary" href="${address}"${apart}>${label}</a>`;
}
