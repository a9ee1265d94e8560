// What a buyer's browser has to load, in gzipped bytes, with the most that it may be: the one place that the test and
// the pages that tell it read.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { releaseVersion } from "#platform/values/release.ts";

const dist = join(import.meta.dirname, "dist");

export interface BundleSize {
  readonly what: string;
  readonly bytes: number;
  readonly bytesMax: number;
}

export function bundleSizes(): readonly BundleSize[] {
  const sdk = `js/${releaseVersion()}`;
  return [
    sizeOf("hosted page, script, style and the code for another device", globSync("page/*", { cwd: dist }), 25_000),
    sizeOf("SDK, every surface included", [`${sdk}/checkout.js`], 9_000),
    sizeOf("SDK loader", [`${sdk}/loader.mjs`], 1_500),
    sizeOf("`<tollbooth-checkout>`, beside the loader", [`${sdk}/element.mjs`], 1_000),
  ];
}

/** @param paths under dist */
export function sizeOf(what: string, paths: readonly string[], bytesMax: number): BundleSize {
  const gzipped = (path: string) => gzipSync(readFileSync(join(dist, path)), { level: 9 }).length;
  return { what, bytes: paths.reduce((sum, path) => sum + gzipped(path), 0), bytesMax };
}
