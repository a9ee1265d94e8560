// The hosted page as the server sends it: language, test bar and the places of everything, so that nothing jumps when
// the script fills them in. It knows nothing of the session but the language that the merchant chose.
import { Html, html } from "../docs/html.ts";
import type { ChosenLanguage } from "./texts/languages.ts";

export interface ShellParts {
  readonly language: ChosenLanguage;
  /** Addresses of the page's own files. */
  readonly script: string;
  /** For the script's `integrity`. */
  readonly integrity: string;
  readonly style: string;
}

export function pageShell({ language, script, integrity, style }: ShellParts): string {
  const { tag, direction, texts } = language;
  // A data block: not a script, so no policy lets it run. `<` is written so that no text can end it.
  const data = JSON.stringify({ locale: tag, texts }).replaceAll("<", "\\u003c");
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${texts.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}" integrity="${integrity}"></script>
</head>
<body>
<header id="test-bar" class="test-bar" hidden><strong>${texts.testMode}</strong> – ${texts.testModeNote}</header>
<main id="page">
<section class="summary" aria-hidden="true"><div class="merchant"><span class="bone bone-logo"></span><span class="bone bone-name"></span></div>
<div class="bone bone-amount"></div><div class="bone bone-line"></div></section>
<section class="panel"><h1 class="visually-hidden">${texts.title}</h1>
<noscript><p class="notice">${texts.noScript}</p></noscript>
<div id="skeleton" role="status"><span class="visually-hidden">${texts.loading}</span><span class="bone bone-field"></span><span class="bone bone-field"></span><span class="bone bone-field"></span><span class="bone bone-button"></span></div>
</section>
</main>
<p id="live" class="visually-hidden" role="status"></p>
<script type="application/json" id="data">${new Html(data)}</script>
</body>
</html>
`.text;
}
