// An operation in the reference: inputs, responses and errors on the left, the call in each language with a response
// and an error on the right.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { type Html, html, proseHtml } from "../../../../gateway/html.ts";
import { ownFormats } from "../../../../gateway/http/own-formats.ts";
import type { ClientOperation } from "../../clients/model.ts";
import { codeBlock, codeGroup } from "../code-blocks.ts";
import { errorsAddress } from "../contents.ts";
import type { Highlight } from "../highlight.ts";
import { headingLink } from "../markdown.ts";
import { answerExample } from "./answer-example.ts";
import { type ApiOperation, type Parameter, type Refusal, referredName, resolveSchema } from "./api-operation.ts";
import { callExamples } from "./call-examples.ts";
import { callSamples, exampleOf } from "./calls.ts";
import { type FindAddress, fieldList, fieldRows } from "./field-list.ts";
import { renderTestCards } from "./test-cards.ts";

/** Inputs of every section. */
export interface Reference {
  readonly document: Members;
  readonly highlight: Highlight;
  readonly findAddress: FindAddress;
  /** By the operation's id. */
  readonly clients: ReadonlyMap<string, ClientOperation>;
}

const nothing = html``;

export function operationSection(operation: ApiOperation, reference: Reference): Html {
  const { id, method, path, summary, text } = operation;
  return html`<section class="operation"${tryData(operation)}>
${headingLink(2, id, summary)}
<div class="description">
<p class="call"><b class="method ${method.toLowerCase()}">${method}</b> <code>${path}</code></p>
${access(operation)}
${text === "" ? nothing : proseHtml(text)}
${parameters(operation, "path", operation.pathParameters, reference)}
${parameters(operation, "query", operation.query, reference)}
${idempotency(operation)}
${body(operation, reference)}
${answer(operation, reference)}
${errors(operation)}
</div>
<div class="shows">
${codes(operation, reference)}
${renderTestCards(id)}
</div>
</section>`;
}

function access({ access, scope }: ApiOperation): Html {
  const who = {
    key: html`An API key with the scope <code>${scope ?? ""}</code>.`,
    secret: html`The buyer's browser with the session secret, from any origin, without an API key.`,
    open: html`Anyone; no API key.`,
  };
  return html`<p class="access">${who[access]}</p>`;
}

function parameters(
  { id }: ApiOperation,
  kind: "path" | "query",
  own: readonly Parameter[],
  { findAddress }: Reference,
): Html {
  if (own.length === 0) return nothing;
  const title = kind === "path" ? "Path" : "Query";
  return html`${headingLink(3, `${id}-${kind}`, title)}${fieldRows(own, true, findAddress)}`;
}

function idempotency({ isIdempotent }: ApiOperation): Html {
  if (!isIdempotent) return nothing;
  return html`<p>Accepts the header <code>Idempotency-Key</code>, 1 to 255 printable ASCII characters: retrying with the same key
returns the original response. <a href="/docs/idempotency">More</a></p>`;
}

function body({ id, body, fileTypes }: ApiOperation, { document }: Reference): Html {
  if (fileTypes.length > 0)
    return html`${headingLink(3, `${id}-body`, "Body")}<p>The file's bytes, as ${fileTypes.join(", ")}.</p>`;
  if (body === undefined) return nothing;
  // Request objects are shown in place.
  return html`${headingLink(3, `${id}-body`, "Body")}${fieldList(document, body, true, () => undefined)}`;
}

function answer({ id, status, answer, isFile }: ApiOperation, { document, findAddress }: Reference): Html {
  const title = headingLink(3, `${id}-answer`, `Response ${status}`);
  if (answer === undefined) return html`${title}<p>${isFile ? "The file" : "Nothing"}.</p>`;
  const name = referredName(answer);
  if (name === undefined) return html`${title}${fieldList(document, answer, false, findAddress)}`;
  return html`${title}<p><a href="${findAddress(name) ?? ""}">${name}</a></p>`;
}

function errors({ id, refusals }: ApiOperation): Html {
  const codes = refusals.map(
    ({ code, status }) => html`<li><a href="${errorsAddress}#${code}"><code>${code}</code></a> ${status}</li>`,
  );
  return html`${headingLink(3, `${id}-errors`, "Errors")}<ul class="codes">${codes}</ul>`;
}

function codes(operation: ApiOperation, { document, highlight, clients }: Reference): Html {
  const { id, status, answer, summary } = operation;
  const samples = callSamples(operation, clients.get(id));
  const [first] = samples;
  const call =
    samples.length === 1 && first ? codeBlock(first, highlight, summary) : codeGroup(samples, highlight, summary);
  const shown = answer === undefined ? "" : JSON.stringify(answerExample(document, answer), null, 2);
  const refusal = typicalRefusal(operation);
  return html`${call}
<p class="title">Response ${status}</p>
${shown === "" ? html`<p>${operation.isFile ? "The file" : "Without a body"}.</p>` : codeBlock({ language: "json", code: shown }, highlight, `${summary}: answer`)}
<p class="title">Error ${refusal.status}</p>
${codeBlock({ language: "json", code: JSON.stringify({ error: errorOf(refusal, operation, document) }, null, 2) }, highlight, `${summary}: error`)}`;
}

/** Codes of most operations. */
const ordinary =
  /^(invalid_body|unauthorized|forbidden|not_found|rate_limited|internal_error|service_unavailable|payload_too_large|unsupported_media_type|idempotency_\w+)$/;

/** The most specific error: the operation's own, else that of an unknown id, else of an invalid field. */
function typicalRefusal({ id, refusals }: ApiOperation): Refusal {
  const own = refusals.filter(({ code }) => !ordinary.test(code));
  const found =
    own.find(({ status }) => status === 422 || status === 402) ??
    own[0] ??
    refusals.find(({ code }) => code === "not_found") ??
    refusals.find(({ code }) => code === "invalid_body");
  if (!found) throw new Error(`${id} refuses nothing`);
  return found;
}

function errorOf({ code, message }: Refusal, operation: ApiOperation, document: Members): object {
  if (code !== "invalid_body") return { code, message };
  const ofBody = operation.body === undefined ? "invalid query" : message;
  return { code, message: ofBody, details: [wrongField(operation, document)] };
}

/** The gateway's text for an invalid field of this operation. */
function wrongField({ body, query }: ApiOperation, document: Members): { field: string; problem: string } {
  const fields = Object.entries(membersOf(resolveSchema(document, body ?? {}).properties));
  for (const [field, value] of fields) {
    const { pattern, examples, format } = membersOf(value);
    const isShown = pattern !== undefined && !(String(format) in ownFormats);
    if (isShown && Array.isArray(examples)) return { field, problem: `must look like ${examples[0]}` };
  }
  for (const { name, schema } of query) {
    if (typeof schema.maximum === "number") return { field: name, problem: `must be at most ${schema.maximum}` };
  }
  return { field: query[0]?.name ?? fields[0]?.[0] ?? "expand", problem: "is unknown" };
}

/** Data for "Try it"; contains no secret. */
function tryData(operation: ApiOperation): Html {
  const { id, method, path, access, pathParameters, query, fileTypes } = operation;
  if (fileTypes.length > 0) return nothing;
  const example = callExamples[id] ?? {};
  const names = (own: readonly Parameter[]) => JSON.stringify(own.map((each) => [each.name, exampleOf(each)]));
  return html` data-method="${method}" data-path="${path}" data-access="${access}" data-in-path="${names(pathParameters)}" data-in-query="${JSON.stringify(
    query.filter(({ name }) => name !== "secret").map(({ name }) => [name, String(example.query?.[name] ?? "")]),
  )}"${operation.body ? html` data-body="${JSON.stringify(example.body ?? {}, null, 2)}"` : nothing}`;
}
