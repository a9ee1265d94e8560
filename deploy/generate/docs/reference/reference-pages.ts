// The pages of the API reference: an overview, a page per group of operations with its objects, the events, the errors.
// Generated from the OpenAPI document of this source tree and the gateway's own tables.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { type Html, html, proseHtml } from "../../../../gateway/html.ts";
import { describedTags } from "../../../../gateway/openapi/text.ts";
import { clientModel } from "../../clients/model.ts";
import { codeBlock } from "../code-blocks.ts";
import { referenceAddress } from "../contents.ts";
import type { Highlight } from "../highlight.ts";
import { headingLink } from "../markdown.ts";
import type { SitePage } from "../page-frame.ts";
import { answerExample } from "./answer-example.ts";
import { type ApiOperation, operationsOf, referredName, resolveSchema } from "./api-operation.ts";
import { errorPage } from "./error-page.ts";
import { eventPage } from "./event-page.ts";
import { fieldList } from "./field-list.ts";
import { operationSection, type Reference } from "./operation-section.ts";
import { overviewPage } from "./overview-page.ts";

export function referencePages(document: Members, highlight: Highlight): SitePage[] {
  const operations = operationsOf(document);
  const groups = describedTags.map((tag) => ({ tag, own: operations.filter((each) => each.tag === tag.name) }));
  const homes = objectHomes(
    document,
    groups.map(({ tag, own }) => ({ address: addressOf(tag.name), own })),
  );
  const model = clientModel(document);
  const reference: Reference = {
    document,
    highlight,
    findAddress: (name) => {
      const home = homes.get(name);
      return home === undefined ? undefined : `${home}#${name}`;
    },
    clients: new Map(model.resources.flatMap((each) => each.operations.map((one) => [one.id, one] as const))),
  };
  return [
    overviewPage(highlight),
    ...groups.map(({ tag, own }) => {
      const address = addressOf(tag.name);
      const objects = [...homes].filter(([, home]) => home === address).map(([name]) => name);
      return groupPage(address, tag, own, objects, reference);
    }),
    eventPage(highlight),
    errorPage(),
  ];
}

const addressOf = (tag: string) =>
  `${referenceAddress}/${tag
    .toLowerCase()
    .replace(/[^a-z]+/g, "-")
    .replace(/-$/, "")}`;

function groupPage(
  address: string,
  { name, description }: (typeof describedTags)[number],
  own: readonly ApiOperation[],
  objects: readonly string[],
  reference: Reference,
): SitePage {
  const list = own.map(
    ({ id, method, path, summary }) =>
      html`<li><a href="#${id}">${summary}</a> <code><b class="method ${method.toLowerCase()}">${method}</b> ${path}</code></li>`,
  );
  const body = html`${proseHtml(description)}
<ul class="operations">${list}</ul>
${own.map((operation) => operationSection(operation, reference))}
${objects.length === 0 ? html`` : headingLink(2, "objects", "Objects")}
${objects.map((each) => objectSection(each, reference))}`;
  return { address, title: name, name, body, isReference: true, about: description.split(". ")[0] ?? "" };
}

function objectSection(name: string, { document, highlight, findAddress }: Reference): Html {
  const reference = { $ref: `#/components/schemas/${name}` };
  const { description } = resolveSchema(document, reference);
  const example = JSON.stringify(answerExample(document, reference), null, 2);
  return html`<section class="operation">
${headingLink(3, name, name)}
<div class="description">${description === undefined ? html`` : proseHtml(String(description))}
${fieldList(document, reference, false, findAddress)}</div>
<div class="shows">${codeBlock({ language: "json", code: example }, highlight, `${name}: example`)}</div>
</section>`;
}

/** The page of each named object: the first whose operations return it. */
function objectHomes(
  document: Members,
  pages: readonly { readonly address: string; readonly own: readonly ApiOperation[] }[],
): Map<string, string> {
  const homes = new Map<string, string>();
  for (const { address, own } of pages) {
    const queue: unknown[] = own.map(({ answer }) => answer);
    for (let next = queue.shift(); queue.length > 0 || next !== undefined; next = queue.shift()) {
      const schema = membersOf(next);
      const name = referredName(schema);
      if (name !== undefined && homes.has(name)) continue; // visits each object once, so the loop ends
      if (name !== undefined) homes.set(name, address);
      const whole = resolveSchema(document, schema);
      queue.push(...Object.values(membersOf(whole.properties)), ...(whole.items === undefined ? [] : [whole.items]));
    }
  }
  return homes;
}
