// The bank's 3-D Secure challenge as a page of its own. The card form shows the same step inside itself.
import { type Page, renderPage } from "./page.ts";

export function challengePage(): Page {
  return renderPage({
    title: "Confirm your payment",
    styles: ["theme.css", "form.css"],
    scripts: ["challenge.js"],
    framing: "nobody",
    body: `<body class="form-page">
<p class="test-bar">Test mode<span> – no money moves</span></p>
<main id="card">
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
<section id="challenge" class="step" aria-labelledby="challenge-title"></section>
<section id="result" class="step" hidden><div id="result-icon" class="result-icon" aria-hidden="true"></div>
<h2 id="result-title" tabindex="-1"></h2><p id="result-text" class="muted"></p></section>
</main>
</body>`,
  });
}
