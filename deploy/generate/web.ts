// Bundles the files for browsers: pages, consoles and the SDK of this release, with the frozen SDKs of earlier
// releases. Usage: npm run generate -- web
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { releaseVersion } from "#platform/values/release.ts";
import { errorTexts } from "../../gateway/web/languages.ts";
import { writeOutput } from "./output.ts";

const root = join(import.meta.dirname, "../..");
const dist = "gateway/web/dist";
/** Scripts of releases as they were served, since pages are pinned to them. */
const releases = "gateway/web/releases";

/** Served files and their sources. */
const scripts = [
  { entry: "gateway/web/sdk/checkout-global.ts", name: "checkout.js", format: "iife" },
  { entry: "gateway/web/sdk/checkout-module.ts", name: "checkout.mjs", format: "esm" },
  { entry: "gateway/web/sdk/package/loader.ts", name: "loader.mjs", format: "esm" },
  { entry: "gateway/web/sdk/package/checkout-element.ts", name: "element.mjs", format: "esm" },
] as const;
const pageFiles = [
  { entry: "gateway/web/page/page.ts", name: "page.js", folder: "page" },
  { entry: "gateway/web/page/page.css", name: "page.css", folder: "page" },
  { entry: "gateway/web/page/share-link/code.ts", name: "code.mjs", folder: "page" },
  { entry: "gateway/web/console/console.ts", name: "console.js", folder: "console" },
  { entry: "gateway/web/console/console.css", name: "console.css", folder: "console" },
  { entry: "gateway/web/console/preview.ts", name: "preview.js", folder: "console" },
  { entry: "gateway/web/console/preview.css", name: "preview.css", folder: "console" },
] as const;

// The oldest supported browsers (docs/checkout-page.md). The syntax is compiled for them;
// `test/browser/old-browsers.test.ts` checks that no newer library function is used.
const supportedBrowsers = ["chrome94", "edge94", "firefox98", "ios15.4", "safari15.4"];

// Members that no page and no other script accesses; shorter names save 1 % of the SDK.
const internalNames =
  /^(retryAfterMs|replaceEnded|submitRequested|isRunning|isPlaced|mountAt|canRetry|onResult|isLive|frameUrl|scriptUrl|scriptIntegrity|styleUrl|styleIntegrity|redirectUrl|publishableKey)$/;

/** The element imports the loader next to it, which the page may have loaded already. */
const externalLoader: Plugin = {
  name: "external loader",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/loader\.ts$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "./loader.mjs", external: true } : undefined,
    ),
};

/** All files by their path from the root, reproducible on every machine. */
async function browserFiles(): Promise<Map<string, string>> {
  const version = releaseVersion();
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    target: supportedBrowsers,
    mangleProps: internalNames,
    legalComments: "none",
    define: { TOLLBOOTH_VERSION: JSON.stringify(version) },
    logLevel: "error",
  };
  const sdk = `${dist}/js/${version}`;
  const files = new Map<string, string>();
  for (const path of globSync("*/*", { cwd: join(root, releases) }))
    files.set(`${dist}/js/${path}`, readFileSync(join(root, releases, path), "utf8"));
  for (const { entry, name, format } of scripts) {
    const outfile = join(root, `${sdk}/${name}`);
    const made = await build({
      ...common,
      entryPoints: [entry],
      outfile,
      format,
      sourcemap: "linked",
      plugins: [externalLoader],
    });
    for (const file of made.outputFiles ?? []) files.set(`${sdk}/${file.path.split("/").at(-1)}`, file.text);
  }
  for (const [language, texts] of Object.entries(errorTexts))
    files.set(`${sdk}/texts-${language}.json`, JSON.stringify(texts));
  const brandingCode = await bundleOne(common, "gateway/web/branding/branding-css.ts", "look.mjs");
  for (const { entry, name, folder } of pageFiles) {
    const text = await bundleOne(common, entry, name);
    files.set(hashedName(folder, name, brandedSheets.has(name) ? text + brandingCode : text), text);
  }
  return files;
}

async function bundleOne(common: BuildOptions, entry: string, name: string): Promise<string> {
  const made = await build({ ...common, entryPoints: [entry], outfile: name, format: formatOf(name) });
  const [file, ...others] = made.outputFiles ?? [];
  if (!file || others.length > 0) throw new Error(`${entry} must be bundled into one file`);
  return file.text;
}

/** Modules are loaded by the page's script on demand. */
function formatOf(name: string): "esm" | "iife" {
  return name.endsWith(".mjs") ? "esm" : "iife";
}

/**
 * Sheets that the server sends with a merchant's branding appended; browsers cache the result under the sheet's name.
 */
const brandedSheets: ReadonlySet<string> = new Set(["page.css", "preview.css"]);

/** `page/page-<hash>.js`, cached for a year. @param text everything that the content depends on */
function hashedName(folder: string, name: string, text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 10);
  const [stem = "", ending = ""] = name.split(".");
  return `${dist}/${folder}/${stem}-${hash}.${ending}`;
}

await writeOutput("web", browserFiles);
