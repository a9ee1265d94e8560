// The style sheet and the scripts of /docs, bundled from gateway/site.
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../..");

/** Names under /docs and their sources. */
const sources = [
  ["early.js", "gateway/site/browser/early.ts"],
  ["site.js", "gateway/site/browser/site.ts"],
  ["search.js", "gateway/site/browser/search.ts"],
  ["try.js", "gateway/site/browser/try.ts"],
  ["site.css", "gateway/site/style.css"],
] as const;

/** Reproducible on every machine. */
export async function siteAssets(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, entry] of sources) {
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
    files.set(name, made.outputFiles[0]?.text ?? "");
  }
  return files;
}
