// Sign-in with a passkey or with the company's identity provider. The script fills the passkey form and sends it. The
// provider gets a link, because the page's policy allows forms to our own origin only.
import { type Html, html } from "../../html.ts";
import { dataBlock } from "../layout/document.ts";
import type { Errand } from "../session/provider.ts";
import { hiddenField } from "./fields.ts";

interface PasskeyFormParts {
  readonly action: string;
  readonly kind: "get" | "create";
  /** The authenticator's options, or where the script loads them, with the message if that fails. */
  readonly optionsSource:
    | { readonly optionsJson: string; readonly challengeId: string }
    | { readonly optionsPath: string; readonly failed: string };
  readonly names: { readonly challenge: string; readonly response: string };
  readonly fields: readonly Html[];
  readonly label: string;
}

export function passkeyForm({ action, kind, optionsSource, names, fields, label }: PasskeyFormParts): Html {
  const hasOptions = "challengeId" in optionsSource;
  const later = hasOptions
    ? ""
    : html` data-options="${optionsSource.optionsPath}" data-failed="${optionsSource.failed}"`;
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-challenge="${names.challenge}" data-response="${names.response}"${later}>
${hiddenField(names.challenge, hasOptions ? optionsSource.challengeId : "")}${hiddenField(names.response, "")}${fields}
<p class="problem" role="alert" data-passkey-problem hidden></p>
<button class="button">${label}</button>${hasOptions ? dataBlock("passkey", optionsSource.optionsJson) : ""}</form>`;
}

export const providerPath = "/sign-in/provider";

/** @param isNewTab keeps what was entered in this tab */
export function providerLink(label: string, { purpose, to }: Errand, isNewTab = false): Html {
  const address = `${providerPath}?${new URLSearchParams({ purpose, to }).toString()}`;
  const target = isNewTab ? html` target="_blank" rel="noopener"` : "";
  return html`<a class="button secondary" href="${address}"${target}>${label}</a>`;
}
