// Programs and everything that they import, packages too, as a few large files: Node finds, reads and compiles a
// thousand small ones for each process otherwise, which is most of its start and half of its memory at rest. A file
// stays where it is for whoever asks: what a module knows of its own place is written into the bundle.
import { readFile } from "node:fs/promises";
import { dirname, extname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Loader, Plugin } from "esbuild";

/** Says of itself where it stands: `import.meta` of modules, and the two names that CommonJS has. */
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

/** Packages in CommonJS ask for Node's own modules by `require`. */
const requires =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/**
 * Writes the bundle: of each program a file of the same path with the ending `.mjs`, and what several share in files of
 * its own. Stack traces name the source by the maps beside them.
 *
 * @param root absolute; what the programs' paths begin at
 * @param programs paths of modules within it
 * @param folder absolute; where the files go
 */
export async function bundle(root: string, programs: readonly string[], folder: string): Promise<void> {
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
    // Shorter text is less to read and to keep.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160, // what Node shows of a crash is the line
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "error",
  });
}
