// What the search knows: each section of each page with its words. The browser loads it when somebody searches, and
// makes its index there, so that no server has a part in it. One section a line, so that a change is a few lines.
import type { SitePage } from "./site-page.ts";

/** Address with its anchor, page, heading, words. */
export type SearchSection = readonly [address: string, page: string, heading: string, text: string];

// A section is found by its first words; all of them would make the file three times as large.
const wordsMax = 70;

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

/** Without examples, which repeat what the words say. */
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
