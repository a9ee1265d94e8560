// Every error code with its status, message and meaning, and an anchor named after the code.

import { errorTable } from "../../../../gateway/failures.ts";
import { html, inlineCode, proseHtml } from "../../../../gateway/html.ts";
import { errorsAddress } from "../contents.ts";
import { headingLink } from "../markdown.ts";
import type { SitePage } from "../page-frame.ts";

const introduction =
  'Every error is `{"error": {"code", "message"}}` with the status below; act on `code`, show `message` to people. `invalid_body` adds `details`: a list of `{"field", "problem"}`. Every error has a `Link` to its section here, and every response a `Request-Id`, by which support finds it.\n\nRepeat a request only if the code permits it, after `Retry-After` if present. With an `Idempotency-Key` nothing is done twice.';

export function errorPage(): SitePage {
  const rows = Object.entries(errorTable).map(
    ([code, row]) => html`<section class="code-row">${headingLink(2, code, html`<code>${code}</code>`)}
<p><b>${row.status}</b> “${row.message}”${row.retry ? html` · <em>can be retried unchanged</em>` : html``}</p>
<p>${inlineCode(row.cause)}</p>
<p><b>What to do:</b> ${inlineCode(row.fix)}</p></section>`,
  );
  return {
    address: errorsAddress,
    title: "Errors",
    name: "Errors",
    about: "Every error code: its status, its cause and what to do.",
    isReference: true,
    body: html`${proseHtml(introduction)}${rows}`,
  };
}
