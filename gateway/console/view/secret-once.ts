// A secret that is shown once, on the page that answers its form: it stands in no address, is not stored by the
// browser (no-store), and nobody can read it again.
import { type Html, html } from "../../docs/html.ts";
import type { Language } from "../texts/both.ts";
import { frameTexts } from "../texts/frame.ts";
import { codeBlock } from "./pieces.ts";

export function secretOnce(language: Language, label: string, secret: string): Html {
  const texts = frameTexts[language];
  return html`<section class="panel secret"><h2>${label}</h2>${codeBlock(language, secret)}
<p class="warning">${texts.secretOnce}</p></section>`;
}
