// The reference page at /docs: one static page made of the same operations, schemas and error table that the gateway
// runs on. No script, nothing from elsewhere; an anchor for every operation and every error code.
import { readFileSync } from "node:fs";
import { errorTable } from "../failures.ts";
import { inputRules } from "../input-rules.ts";
import { describedEvents, describedTags, introduction } from "../openapi/text.ts";
import type { ListedOperation } from "../operation.ts";
import { type Html, html, inlineCode, prose } from "./html.ts";
import { operationSection } from "./operation-section.ts";
import { fieldTable } from "./schema-table.ts";

/** The whole page. */
export function docsPage(operations: readonly ListedOperation[]): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollbooth API reference</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Contents">${contents(operations)}</nav>
<main>
<h1>Tollbooth API reference</h1>
${prose(introduction)}
<p>The same as a document for tools: <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a>.</p>
${authentication}
${describedTags.map((tag) => tagSection(tag, operations))}
${events()}
${errors()}
${inputs()}
${samples()}
</main>
</body>
</html>
`.text;
}

function contents(operations: readonly ListedOperation[]): Html {
  const groups = describedTags.map(({ name }) => {
    const own = operations.filter((operation) => operation.tag === name);
    return html`<li>${name}<ul>${own.map((each) => html`<li><a href="#${each.id}">${each.summary}</a></li>`)}</ul></li>`;
  });
  return html`<ul>
<li><a href="#authentication">Authentication</a></li>
${groups}
<li><a href="#events">Webhook events</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#input">What is accepted</a></li>
<li><a href="#samples">Samples</a></li>
</ul>`;
}

const authentication = html`<section id="authentication"><h2>Authentication</h2>
${prose(
  "A merchant's backend sends `Authorization: Bearer <API key>`. `sk_test_` keys see the sandbox, `sk_live_` keys see live objects, and nothing of one is visible from the other. A key has scopes: `payments:read`, `payments:write`, `merchant:read`, `merchant:write`; one that it creates or rolls has no scope beyond these and ends no later. A merchant has at most 50 active keys in each environment, which share four times the rate limit of one, and a profile and a branding for each.\n\nThe buyer's browser sends the session secret as the query parameter `secret`. It opens one session and nothing else. An API key never belongs in a browser.",
)}
</section>`;

function tagSection(tag: (typeof describedTags)[number], operations: readonly ListedOperation[]): Html {
  const own = operations.filter((operation) => operation.tag === tag.name);
  return html`<section><h2>${tag.name}</h2>${prose(tag.description)}${own.map(operationSection)}</section>`;
}

function events(): Html {
  const rows = describedEvents.map(
    (event) => html`<section id="${event.code}"><h3><code>${event.code}</code></h3>
${prose(event.fires)}${fieldTable(event.schema)}</section>`,
  );
  return html`<section id="events"><h2>Webhook events</h2>
${prose(
  "Sent as POST with a JSON body to every active endpoint that is subscribed. Headers: `Service-Event`, `Service-Delivery`, `Service-Signature: t=<unix seconds>,v1=<hex>`. `v1` is HMAC-SHA256, keyed by the endpoint's whole signing secret, of `t`, a dot and the raw body. For 24 hours after a secret was rolled there are two `v1` values; one of them must fit.\n\nAny 2xx acknowledges. Everything else is tried again after 1, 2, 4, 8, 16, 32 minutes, then hourly, for about 72 hours. Delivery is at-least-once: deduplicate on `Service-Delivery`, or read the object again. Two partial refunds of one payment have the same body.",
)}
${rows}</section>`;
}

function errors(): Html {
  const rows = Object.entries(errorTable).map(
    ([code, row]) => html`<tr id="${code}"><td><a href="#${code}"><code>${code}</code></a></td><td>${row.status}</td>
<td>${row.message}</td><td>${row.retry ? "yes" : "no"}</td><td>${inlineCode(row.docs)}</td></tr>`,
  );
  return html`<section id="errors"><h2>Errors</h2>
${prose('Every error is `{"error": {"code", "message"}}`; `invalid_body` adds `details`: a list of `{"field", "problem"}`.')}
<table><thead><tr><th>Code</th><th>HTTP</th><th>Message</th><th>Repeat as it is</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

function inputs(): Html {
  const rows = inputRules.map(
    (rule) => html`<tr><td>${rule.input}</td><td>${rule.status}</td><td>${inlineCode(rule.answer)}</td></tr>`,
  );
  return html`<section id="input"><h2>What is accepted</h2>
${prose("JSON leaves some things open. This is how they are read here.")}
<table><thead><tr><th>Input</th><th>HTTP</th><th>How it is read</th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

const sampleFiles = [
  ["verify-webhook.mjs", "Verify a webhook (Node.js)"],
  ["verify_webhook.py", "Verify a webhook (Python)"],
  ["verify_webhook.go", "Verify a webhook (Go)"],
  ["list-payments.mjs", "Read every payment, page by page (Node.js)"],
  ["refund-once.mjs", "Refund, and never twice (Node.js)"],
  ["shop/server.mjs", "A shop: its server, from the session to the verified webhook (Node.js)"],
  ["shop/public/order.js", "A shop: its order page, with the browser SDK"],
] as const;

const libraries =
  "Libraries for Node and Python come with the service (`npm run pack` in its repository): a method for each operation, safe repeats, pages, errors with classes, verified webhooks. Without one, this is all that it takes.";

function samples(): Html {
  const parts = sampleFiles.map(([file, title]) => {
    const text = readFileSync(new URL(`./samples/${file}`, import.meta.url), "utf8");
    return html`<section><h3>${title}</h3><pre><code>${text}</code></pre></section>`;
  });
  return html`<section id="samples"><h2>Samples</h2>${prose(libraries)}${parts}</section>`;
}
