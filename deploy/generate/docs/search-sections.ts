// The search index: each section of each page with its first words. The browser loads it on the first search and builds
// its index, so no server is involved. One section per line keeps diffs small.
import type { SitePage } from "./page-frame.ts";

/** Address with anchor, page, heading, text. */
export type SearchSection = readonly [address: string, page: string, heading: string, text: string];

// Enough to find a section; the whole text would double the file.
const wordsMax = 160;

export function searchFile(pages: readonly SitePage[]): string {
  const lines = pages.flatMap(sectionsOf).map((section) => JSON.stringify(section));
  return `[\n${lines.join(",\n")}\n]\n`;
}

function sectionsOf({ address, title, body, isReference }: SitePage): SearchSection[] {
  const parts = body.text.split(/(?=<h[23] id=")/);
  return parts.flatMap((section, i) => {
    const [all = "", id = "", heading = ""] = /^<h[23] id="([^"]+)">([\s\S]*?)<\/h[23]>/.exec(section) ?? [];
    if (isReference && i > 0 && /-(?:path|query|body|answer|errors)$/.test(id)) return []; // an operation's own parts
    const words = textOf(section.slice(all.length)).split(" ");
    const text = words.slice(0, wordsMax).join(" ");
    if (id === "" && text === "") return [];
    return [[id === "" ? address : `${address}#${id}`, title, textOf(heading), text] as const];
  });
}

/** Without examples, which repeat the text. */
function textOf(markup: string): string {
  return markup
    .replace(/<figure[\s\S]*?<\/figure>/g, " ")
    .replace(/<div class="choose"[\s\S]*?<\/div>/g, " ")
    .replace(/<[^>]+>/g, " ")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ")
    .trim();
}
