// Renders a guide as HTML: headings with a Git host's anchors, highlighted code, the same code in several languages as
// a group, wide tables that scroll. HTML in a guide is shown as text; comments are dropped.
import { Marked, type Token, type Tokens } from "marked";
import { Html, html } from "../../../gateway/html.ts";
import { codeBlock, codeGroup, isChoice } from "./code-blocks.ts";
import type { Highlight } from "./highlight.ts";
import { type Resolve, slugOf } from "./links.ts";

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A guide without its first heading, which is the page's title. */
export interface RenderedPage {
  readonly title: string;
  readonly body: Html;
  readonly headings: readonly Heading[];
}

/** @throws if `resolve` rejects a link */
export function renderMarkdown(text: string, highlight: Highlight, resolve: Resolve): RenderedPage {
  const marked = new Marked();
  const tokens = marked.lexer(text).filter(({ type, raw }) => !(type === "html" && /^<!--[\s\S]*-->\s*$/.test(raw)));
  const first = tokens.find((token): token is Tokens.Heading => isHeading(token) && token.depth === 1);
  if (!first) throw new Error("a guide must begin with a heading");
  const headings: Heading[] = [];
  marked.use({ renderer: rendererOf(highlight, resolve, headings) });
  const parts = grouped(tokens.filter((token) => token !== first)).map((group) =>
    Array.isArray(group) ? codeGroup(group.map(sampleOf), highlight, "Sample").text : marked.parser([group]),
  );
  return { title: plainText(first.text), body: new Html(parts.join("\n")), headings };
}

function rendererOf(highlight: Highlight, resolve: Resolve, headings: Heading[]) {
  const usedSlugs = new Map<string, number>();
  return {
    heading(
      this: { parser: { parseInline(tokens: Token[]): string } },
      { tokens, depth, text }: Tokens.Heading,
    ): string {
      const slug = slugOf(plainText(text));
      const count = usedSlugs.get(slug) ?? 0;
      usedSlugs.set(slug, count + 1);
      const id = count === 0 ? slug : `${slug}-${count}`;
      const level = Math.max(depth, 2); // the frame has the first-level heading
      headings.push({ level, id, text: plainText(text) });
      return headingLink(level, id, new Html(this.parser.parseInline(tokens).replace(/<\/?a\b[^>]*>/g, ""))).text;
    },
    code: (token: Tokens.Code) => codeBlock(sampleOf(token), highlight, "Code").text,
    html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^<!--/.test(text) ? "" : html`${text}`.text),
    link(this: { parser: { parseInline(tokens: Token[]): string } }, { href, tokens }: Tokens.Link): string {
      const address = resolve(href);
      const inner = new Html(this.parser.parseInline(tokens));
      return (
        address === undefined ? html`<span class="file">${inner}</span>` : html`<a href="${address}">${inner}</a>`
      ).text;
    },
    image: ({ href, text }: Tokens.Image) => html`<img src="${resolve(href) ?? ""}" alt="${text}" loading="lazy">`.text,
    table(this: TableRenderer, token: Tokens.Table): string {
      const cells = (row: readonly Tokens.TableCell[], tag: string) =>
        row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
      const head = cells(token.header, "th");
      const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
      const named = head.replaceAll("<th></th>", '<td aria-hidden="true"></td>');
      return wideTable(new Html(named), new Html(rows)).text;
    },
  };
}

interface TableRenderer {
  readonly parser: { parseInline(tokens: Token[]): string };
}

/** A table that scrolls if it is wider than the page. */
export function wideTable(head: Html, rows: Html): Html {
  return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>
${rows}
</tbody></table></div>`;
}

/** A heading that links to itself. */
export function headingLink(level: number, id: string, text: Html | string): Html {
  return html`<${new Html(`h${level}`)} id="${id}"><a href="#${id}">${text}</a></${new Html(`h${level}`)}>`;
}

/** Groups consecutive code blocks in different selectable languages. */
function grouped(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const parts: (Token | Tokens.Code[])[] = [];
  let run: Tokens.Code[] = [];
  const end = () => {
    parts.push(...(run.length > 1 ? [run] : run));
    run = [];
  };
  for (const token of tokens) {
    if (isCode(token) && isChoice(token.lang ?? "") && !run.some(({ lang }) => lang === token.lang)) run.push(token);
    else if (token.type === "space" && run.length > 0) continue;
    else {
      end();
      if (isCode(token) && isChoice(token.lang ?? "")) run.push(token);
      else parts.push(token);
    }
  }
  end();
  return parts;
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";
const isCode = (token: Token): token is Tokens.Code => token.type === "code";
const sampleOf = ({ lang = "", text }: Tokens.Code) => ({ language: lang, code: text });

/** Without Markdown syntax. */
function plainText(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
}
