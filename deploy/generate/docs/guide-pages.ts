// The guides: a page for each Markdown file of the table of contents, and one for each service of the internal API,
// which the page of its services leads to.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chapters } from "./contents.ts";
import type { Highlight } from "./highlight.ts";
import { guideAddresses, linksOf } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import type { SitePage } from "./site-page.ts";

const root = join(import.meta.dirname, "../../..");
/** By chapter title; pages without a name stand in no navigation. */
export function guidePages(highlight: Highlight): Map<string, SitePage[]> {
  const services = globSync("docs/rpc/*.md", { cwd: root })
    .filter((path) => !path.endsWith("README.md"))
    .sort()
    .map((source) => ({ source, address: `/docs/rpc/${source.slice("docs/rpc/".length, -".md".length)}` }));
  const pages = new Map([...guideAddresses(), ...services.map(({ source, address }) => [source, address] as const)]);
  const made = chapters.map(({ title, guides }) => {
    const own = guides.map(({ source, address, name, about }) => ({
      ...pageOf(source, address, pages, highlight),
      ...{ name, about },
    }));
    return [title, own] as const;
  });
  const unlisted = services.map(({ source, address }) => pageOf(source, address, pages, highlight));
  return new Map([...made, ["", unlisted]]);
}

function pageOf(source: string, address: string, pages: ReadonlyMap<string, string>, highlight: Highlight): SitePage {
  const text = readFileSync(join(root, source), "utf8");
  const { title, body } = renderMarkdown(text, highlight, linksOf(source, pages));
  return { address, title, body, about: `${title}, of the internal API.` };
}
