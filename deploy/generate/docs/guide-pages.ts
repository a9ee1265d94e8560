// The guides: a page per Markdown file in the table of contents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chapters } from "./contents.ts";
import type { Highlight } from "./highlight.ts";
import { linksOf } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import type { NavigationSection } from "./page-frame.ts";

const root = join(import.meta.dirname, "../../..");

/** By chapter. */
export function guidePages(highlight: Highlight): NavigationSection[] {
  return chapters.map(({ title: chapter, guides }) => ({
    title: chapter,
    pages: guides.map(({ source, address, name, about }) => {
      const text = readFileSync(join(root, source), "utf8");
      const { title, body } = renderMarkdown(text, highlight, linksOf(source));
      return { address, title, body, name, about };
    }),
  }));
}
