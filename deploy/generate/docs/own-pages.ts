// Pages without a guide: the start page of /docs, the samples, the page for unknown addresses, and the landing page of
// the gateway.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { html } from "../../../gateway/html.ts";
import { codeBlock } from "./code-blocks.ts";
import { samplesAddress } from "./contents.ts";
import type { Highlight } from "./highlight.ts";
import { slugOf } from "./links.ts";
import { headingLink } from "./markdown.ts";
import type { NavigationSection, SitePage } from "./page-frame.ts";

const samples = join(import.meta.dirname, "../../../gateway/docs/samples");

/** Whole programs, which tests run. */
const sampleFiles: readonly (readonly [file: string, language: string, does: string])[] = [
  ["receive-webhooks.mjs", "js", "Receive webhooks, each verified"],
  ["register-webhook.mjs", "js", "Register a webhook endpoint, or find it again"],
  ["verify-webhook.mjs", "js", "Verify a webhook (Node)"],
  ["verify_webhook.py", "python", "Verify a webhook (Python)"],
  ["verify_webhook.php", "php", "Verify a webhook (PHP)"],
  ["verify_webhook.go", "go", "Verify a webhook (Go)"],
  ["verify_webhook.rb", "ruby", "Verify a webhook (Ruby)"],
  ["list-payments.mjs", "js", "Read every payment, page by page, without the library"],
  ["refund-once.mjs", "js", "Refund exactly once, without the library"],
  ["pay-as-buyer.mjs", "js", "Pay a session without a browser, at the simulator"],
  ["shop/server.mjs", "js", "A shop: its server, from the session to the verified webhook"],
  ["shop/orders.mjs", "js", "A shop: its orders, and what events do to them"],
  ["shop/public/order.js", "js", "A shop: its order page, with the browser SDK"],
];

export function samplesPage(highlight: Highlight): SitePage {
  const parts = sampleFiles.map(([file, language, does]) => {
    const code = readFileSync(join(samples, file), "utf8");
    return html`${headingLink(2, slugOf(file), does)}
<p><span class="file"><code>gateway/docs/samples/${file}</code></span></p>
${codeBlock({ language, code }, highlight, does)}`;
  });
  return {
    address: samplesAddress,
    title: "Samples",
    name: "Samples",
    about: "Whole programs to copy: webhooks, lists, refunds, and a shop with the browser SDK.",
    body: html`<p>Whole programs to copy; tests run each of them. The shop is the demo shop of <code>npm start</code>.</p>
${parts}`,
  };
}

/** The start page of /docs: a line for each page. */
export function homePage(navigation: readonly NavigationSection[]): SitePage {
  const parts = navigation.map(({ title, pages }) => {
    const lines = pages.map(
      ({ address, name, about }) => html`<li><a href="${address}">${name ?? ""}</a> <span>${about}</span></li>`,
    );
    return html`${headingLink(2, slugOf(title), title)}<ul class="pages">${lines}</ul>`;
  });
  return {
    address: "/docs",
    title: "Tollbooth docs",
    about: "How to take payments with Tollbooth: guides, the API reference, test cards, webhooks.",
    body: html`<p>Your backend creates a checkout session over a small JSON API; the buyer pays on the card processor's own surface; signed
webhooks report the result to your backend. Begin with the <a href="/docs/quickstart">quickstart</a>: a paid and refunded order on your
machine in five minutes.</p>
${parts}`,
  };
}

/** For unknown addresses below /docs. */
export function missingPage(): SitePage {
  return {
    address: "/docs/404",
    title: "Page not found",
    about: "No page has this address.",
    body: html`<p>It may have moved. <a href="/docs">All pages</a>, or press <kbd>/</kbd> to search.</p>`,
  };
}

/** The gateway's `/`: links for people who open its address. */
export function landingPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollbooth</title>
<meta name="description" content="A self-hosted checkout payments service and its API.">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/site.css">
</head>
<body class="landing">
<main>
<h1>Tollbooth</h1>
<p>A self-hosted checkout payments service. Its API answers at this address, below <code>/v1</code>.</p>
<ul class="pages">
<li><a href="/docs/quickstart">Quickstart</a> <span>From nothing to a paid order in five minutes.</span></li>
<li><a href="/docs/api">API reference</a> <span>Every operation, in curl, Node and Python.</span></li>
<li><a href="/docs/webhooks">Webhooks</a> <span>Signed notifications for your backend, and how to verify them.</span></li>
<li><a href="/docs/test-cards">Test cards</a> <span>A number for every outcome of a payment.</span></li>
<li><a href="/docs">All pages</a> <span>Guides, the contract, states, samples, release notes.</span></li>
<li><a href="/openapi.json">openapi.json</a> <span>The API description for tools; <a href="/openapi.yaml">as YAML</a>.</span></li>
<li><a href="/readyz">readyz</a> <span>Whether the services behind it work.</span></li>
</ul>
</main>
</body>
</html>
`.text;
}
