// Generates the static pages of /docs and /: guides, API reference, scripts and the search index. Usage: npm run
// generate -- docs
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { membersOf } from "#platform/values/unchecked.ts";
import { buildDocument } from "../../gateway/openapi/document.ts";
import { chapters } from "./docs/contents.ts";
import { createHighlight, type Highlight } from "./docs/highlight.ts";
import { imageAddress, linksOf } from "./docs/links.ts";
import { renderMarkdown } from "./docs/markdown.ts";
import { homePage, landingPage, missingPage, samplesPage } from "./docs/own-pages.ts";
import { type NavigationSection, renderPage } from "./docs/page-frame.ts";
import { referencePages } from "./docs/reference/reference-pages.ts";
import { searchFile } from "./docs/search-sections.ts";
import { outputs, writeOutput } from "./output.ts";

const root = join(import.meta.dirname, "../..");

/** Names under /docs and their sources. */
const assets = [
  ["early.js", "gateway/site/browser/early.ts"],
  ["site.js", "gateway/site/browser/site.ts"],
  ["search.js", "gateway/site/browser/search.ts"],
  ["try.js", "gateway/site/browser/try.ts"],
  ["site.css", "gateway/site/style.css"],
] as const;

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
    ...(await siteAssets()),
    ...pictures(),
    ["docs/search.json", searchFile(listed)],
  ]);
}

/** A page per Markdown file in the table of contents, by chapter. */
function guidePages(highlight: Highlight): NavigationSection[] {
  return chapters.map(({ title: chapter, guides }) => ({
    title: chapter,
    pages: guides.map(({ source, address, name, about }) => {
      const text = readFileSync(join(root, source), "utf8");
      const { title, body } = renderMarkdown(text, highlight, linksOf(source));
      return { address, title, body, name, about };
    }),
  }));
}

/** The style sheet and the scripts, reproducible on every machine. */
async function siteAssets(): Promise<[string, string][]> {
  const files: [string, string][] = [];
  for (const [name, entry] of assets) {
    const made = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      minify: true,
      write: false,
      target: ["es2022"],
      // Scripts that the page loads on demand are modules.
      format: name === "search.js" || name === "try.js" ? "esm" : "iife",
      legalComments: "none",
      logLevel: "error",
    });
    files.push([`docs/${name}`, made.outputFiles[0]?.text ?? ""]);
  }
  return files;
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
