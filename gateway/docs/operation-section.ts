// One operation in the reference: who may call it, what it takes, what it answers, which errors it gives.
import type { TSchema } from "typebox";
import { errorTable } from "../failures.ts";
import { errorCodes } from "../openapi/errors.ts";
import type { ListedOperation } from "../operation.ts";
import { curlOf } from "./example.ts";
import { type Html, html, prose } from "./html.ts";
import { fieldTable } from "./schema-table.ts";

const nothing = html``;

/** The section, with the operation's id as its anchor. */
export function operationSection(operation: ListedOperation): Html {
  const path = operation.path.replace(/:(\w+)/g, "{$1}");
  const codes = errorCodes(operation).map(
    (code) => html`<a href="#${code}"><code>${code}</code></a> ${errorTable[code].status}`,
  );
  return html`<section id="${operation.id}"><h3>${operation.summary}</h3>
<p class="call"><code>${operation.method} ${path}</code> ${access(operation)}</p>
${operation.description === undefined ? nothing : prose(operation.description)}
<pre><code>${curlOf(operation)}</code></pre>
${part("Path", operation.params)}
${part("Query", operation.query)}
${operation.idempotent ? prose("Honours the header `Idempotency-Key` (1 to 255 printable ASCII characters).") : nothing}
${part("Body", operation.body)}
${part(`Answer ${operation.status}`, operation.response)}
<p class="errors">Errors: ${codes.map((code, i) => (i === 0 ? code : html`· ${code}`))}</p>
</section>`;
}

function access({ access }: ListedOperation): Html {
  if (access.kind === "merchant") return html`<span class="access">API key with <code>${access.scope}</code></span>`;
  return html`<span class="access">${access.kind === "buyer" ? "session secret" : "public"}</span>`;
}

function part(title: string, schema: TSchema | undefined): Html {
  return schema === undefined ? nothing : html`<h4>${title}</h4>${fieldTable(schema)}`;
}
