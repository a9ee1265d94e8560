// The start page of the reference: authentication, the form of requests, and how ambiguous JSON is read.
import { type Html, html, inlineCode, proseHtml } from "../../../../gateway/html.ts";
import { inputRules } from "../../../../gateway/input-rules.ts";
import { introduction } from "../../../../gateway/openapi/text.ts";
import { codeGroup } from "../code-blocks.ts";
import { referenceAddress } from "../contents.ts";
import type { Highlight } from "../highlight.ts";
import { headingLink, wideTable } from "../markdown.ts";
import type { SitePage } from "../page-frame.ts";

const authentication =
  "A merchant's backend sends `Authorization: Bearer <API key>`. `sk_test_` keys see only the sandbox, `sk_live_` keys only live objects. A key has scopes: `payments:read`, `payments:write`, `merchant:read`, `merchant:write`; a key that it creates or rolls has no further scopes and expires no later. A merchant has at most 50 active keys in each environment, which share four times the rate limit of one, and a profile and a branding per environment.\n\nThe buyer's browser sends the session secret as the query parameter `secret`. It gives access to one session only. An API key never belongs in a browser.";
const samples = [
  {
    language: "bash",
    code: 'export TOLLBOOTH_URL=http://127.0.0.1:8080 TOLLBOOTH_KEY=sk_test_…\ncurl -sS "$TOLLBOOTH_URL/v1/merchants/me" -H "Authorization: Bearer $TOLLBOOTH_KEY"',
  },
  {
    language: "js",
    code: 'import { Tollbooth } from "@tollbooth/node";\n\nconst tollbooth = new Tollbooth({\n  apiKey: process.env.TOLLBOOTH_KEY,\n  baseUrl: process.env.TOLLBOOTH_URL,\n});\nconsole.log(await tollbooth.merchant.get());',
  },
  {
    language: "python",
    code: 'import os\n\nfrom tollbooth import Tollbooth\n\ntollbooth = Tollbooth(\n    api_key=os.environ["TOLLBOOTH_KEY"],\n    base_url=os.environ["TOLLBOOTH_URL"],\n)\nprint(tollbooth.merchant.get())',
  },
];

export function overviewPage(highlight: Highlight): SitePage {
  return {
    address: referenceAddress,
    title: "API reference",
    name: "Overview",
    about: "Authentication, the form of requests, and how ambiguous JSON is read.",
    isReference: true,
    body: html`${proseHtml(introduction)}
<p>The same as a document for tools: <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a> (OpenAPI 3.1).</p>
${headingLink(2, "authentication", "Authentication")}
${proseHtml(authentication)}
${codeGroup(samples, highlight, "The first call")}
<p>The libraries for <a href="/docs/node">Node</a> and <a href="/docs/python">Python</a> come with the service: a method for each
operation, safe repeats, pages, errors with classes, verified webhooks. Without one, plain HTTP is all that it takes.</p>
${inputs()}`,
  };
}

function inputs(): Html {
  const rows = inputRules.map(
    (rule) => html`<tr><td>${rule.input}</td><td>${rule.status}</td><td>${inlineCode(rule.answer)}</td></tr>`,
  );
  return html`${headingLink(2, "input", "Input")}
${proseHtml("JSON leaves some cases open. The API reads them as follows.")}
${wideTable(html`<th>Input</th><th>HTTP</th><th>How it is read</th>`, html`${rows}`)}`;
}
