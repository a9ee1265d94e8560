// Bundles programs with all their imports into a few large files. Otherwise Node reads and compiles a thousand small
// files per process, which is most of its start time and half of its memory at rest.
import { readFile } from "node:fs/promises";
import { dirname, extname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Loader, Plugin } from "esbuild";

/** `import.meta` and CommonJS names for a module's own path; the bundle contains the source's path in their place. */
const locationPattern = /\bimport\.meta\.(dirname|filename|url)\b|\b__(dirname|filename)\b/g;

const keepLocations: Plugin = {
  name: "keeps its place",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.([cm]?js|ts)$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const known = { dirname: dirname(path), filename: path, url: pathToFileURL(path).href };
      const contents = text.replace(
        locationPattern,
        (_, ofModule: keyof typeof known, ofCommonJs: keyof typeof known) =>
          JSON.stringify(known[ofModule ?? ofCommonJs]),
      );
      const loader: Loader = extname(path) === ".ts" ? "ts" : "js";
      return { contents, loader };
    }),
};

/** CommonJS packages load Node's own modules by `require`. */
const requires =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/**
 * Writes `<program>.mjs` for each program, shared chunks, and source maps for stack traces.
 *
 * @param root absolute; the programs' paths start here
 * @param programs module paths from the root
 * @param folder absolute output folder
 */
export async function bundlePrograms(root: string, programs: readonly string[], folder: string): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints: [...programs],
    outbase: root,
    outdir: relative(root, folder),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    outExtension: { ".js": ".mjs" },
    chunkNames: "shared/[name]-[hash]",
    banner: { js: requires },
    plugins: [keepLocations],
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160, // Node prints the whole line of a crash
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "error",
  });
}
