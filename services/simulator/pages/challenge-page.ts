// The 3-D Secure challenge as a page. The card form contains the same step.
import type { Language } from "../texts/languages.ts";
import { type Page, renderPage, testBar, textIn, textsBlock } from "./page.ts";

export function challengePage(language: Language): Page {
  const { texts } = language;
  const textOf = textIn(language);
  return renderPage({
    language,
    title: texts.challengeTitle,
    styles: ["theme.css", "form.css"],
    scripts: ["challenge.js"],
    framing: "nobody",
    body: `<body class="form-page">
${testBar(textOf("testMode"), textOf("noMoneyMoves"))}
<main id="card">
<noscript><p class="notice">${texts.noScript}</p></noscript>
<section id="challenge" class="step" aria-labelledby="challenge-title"></section>
<section id="result" class="step" hidden><div id="result-icon" class="result-icon" aria-hidden="true"></div>
<h2 id="result-title" tabindex="-1"></h2><p id="result-text" class="muted"></p></section>
</main>
${textsBlock(language)}
</body>`,
  });
}
