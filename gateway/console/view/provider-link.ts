// A link to the company's identity provider. No form: the page's policy lets forms go to our own addresses alone.
import { type Html, html } from "../../docs/html.ts";
import type { Errand } from "../session/provider.ts";

export const providerPath = "/sign-in/provider";

/** @param isApart in a tab of its own, which keeps what this one holds */
export function providerLink(label: string, { purpose, to }: Errand, isApart = false): Html {
  const address = `${providerPath}?${new URLSearchParams({ purpose, to }).toString()}`;
  const apart = isApart ? html` target="_blank" rel="noopener"` : "";
  return html`<a class="button secondary" href="${address}"${apart}>${label}</a>`;
}
