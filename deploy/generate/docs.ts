// Writes what /docs and / serve: static pages of the guides and of the API reference, their scripts, the index of the
// search. The gateway renders nothing: the results are committed, and test/tidy.test.ts compares them with what this
// makes. Usage: npm run generate -- docs
import { globSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { membersOf } from "#platform/values/members.ts";
import { ownDocument } from "../../gateway/openapi/document.ts";
import { filledGuides } from "./docs/filled-blocks.ts";
import { guidePages } from "./docs/guide-pages.ts";
import { highlighter } from "./docs/highlight.ts";
import { imageAddress } from "./docs/links.ts";
import { homePage, landingPage, missingPage, samplesPage } from "./docs/own-pages.ts";
import { framed, type NavigationPart } from "./docs/page-frame.ts";
import { referencePages } from "./docs/reference/reference-pages.ts";
import { searchFile } from "./docs/search-sections.ts";
import { siteAssets } from "./docs/site-assets.ts";

const root = join(import.meta.dirname, "../..");

/** Where the results stand; nothing else does. */
export const siteFolder = "gateway/site/dist";

/** Every file by its path under gateway/site/dist, as text: `docs/webhooks.html` is what `/docs/webhooks` answers. */
export async function siteFiles(): Promise<Map<string, string>> {
  const highlight = await highlighter();
  const guides = guidePages(highlight);
  const reference = { title: "API reference", pages: referencePages(membersOf(ownDocument()), highlight) };
  const [first, ...rest] = [...guides].filter(([title]) => title !== "").map(([title, pages]) => ({ title, pages }));
  if (!first) throw new Error("there are no guides");
  const navigation: NavigationPart[] = [
    { ...first, pages: [...first.pages, samplesPage(highlight)] },
    reference,
    ...rest,
  ];
  const listed = navigation.flatMap(({ pages }) => pages);
  const searched = [...listed, ...(guides.get("") ?? [])];
  const pages = [homePage(navigation), missingPage(), ...searched];
  return new Map([
    ["index.html", landingPage()],
    ...pages.map((page) => [`${page.address.slice(1)}.html`, framed(page, navigation)] as const),
    ...[...(await siteAssets())].map(([name, text]) => [`docs/${name}`, text] as const),
    ...pictures(),
    ["docs/search.json", searchFile(searched)],
  ]);
}

/** Those of the guides, and the icon. */
function pictures(): [string, string][] {
  const paths = globSync(["docs/*.svg", "docs/states/*.svg"], { cwd: root }).sort();
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  return [
    ["docs/icon.svg", read("gateway/site/icon.svg")],
    ...paths.map((path): [string, string] => [imageAddress(path).slice(1), read(path)]),
  ];
}

async function write(): Promise<void> {
  // First, since the pages are made of them.
  for (const [path, text] of filledGuides()) await writeFile(join(root, path), text);
  const files = await siteFiles();
  await rm(join(root, siteFolder), { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(root, siteFolder, path)), { recursive: true });
    await writeFile(join(root, siteFolder, path), text);
    console.log(`${String(text.length).padStart(8)}  ${path}`);
  }
}

if (import.meta.main) await write();
