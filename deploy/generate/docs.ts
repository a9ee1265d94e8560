// Generates the static pages of /docs and /: guides, API reference, scripts and the search index. Usage: npm run
// generate -- docs
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { buildDocument } from "../../gateway/openapi/document.ts";
import { guidePages } from "./docs/guide-pages.ts";
import { createHighlight } from "./docs/highlight.ts";
import { imageAddress } from "./docs/links.ts";
import { homePage, landingPage, missingPage, samplesPage } from "./docs/own-pages.ts";
import { type NavigationSection, renderPage } from "./docs/page-frame.ts";
import { referencePages } from "./docs/reference/reference-pages.ts";
import { searchFile } from "./docs/search-sections.ts";
import { siteAssets } from "./docs/site-assets.ts";
import { outputs, writeOutput } from "./output.ts";

const root = join(import.meta.dirname, "../..");

await writeOutput("docs", async () => {
  const [folder] = outputs.docs.folders;
  return new Map([...(await siteFiles())].map(([path, text]) => [`${folder}/${path}`, text] as const));
});

/** All files by their path in the folder: `docs/webhooks.html` is served as `/docs/webhooks`. */
async function siteFiles(): Promise<Map<string, string>> {
  const highlight = await createHighlight();
  const [first, ...rest] = guidePages(highlight);
  if (!first) throw new Error("no guides found");
  const navigation: NavigationSection[] = [
    { ...first, pages: [...first.pages, samplesPage(highlight)] },
    { title: "API reference", pages: referencePages(membersOf(buildDocument()), highlight) },
    ...rest,
  ];
  const listed = navigation.flatMap(({ pages }) => pages);
  const pages = [homePage(navigation), missingPage(), ...listed];
  return new Map([
    ["index.html", landingPage()],
    ...pages.map((page) => [`${page.address.slice(1)}.html`, renderPage(page, navigation)] as const),
    ...[...(await siteAssets())].map(([name, text]) => [`docs/${name}`, text] as const),
    ...pictures(),
    ["docs/search.json", searchFile(listed)],
  ]);
}

/** Pictures of the guides, and the icon. */
function pictures(): [string, string][] {
  const paths = globSync("docs/states/*.svg", { cwd: root }).sort();
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  return [
    ["docs/icon.svg", read("gateway/site/icon.svg")],
    ...paths.map((path): [string, string] => [imageAddress(path).slice(1), read(path)]),
  ];
}
