// What a buyer's browser has to load, counted in gzipped bytes.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { releaseVersion } from "#platform/values/release.ts";
import { suite } from "../../test/harness/suite.ts";

const test = suite("bundle size");
const dist = join(import.meta.dirname, "dist");
const gzipped = (path: string) => gzipSync(readFileSync(join(dist, path)), { level: 9 }).length;

const budgets = [
  ["the loader", [`js/${releaseVersion()}/loader.mjs`], 1_500],
  ["the element", [`js/${releaseVersion()}/element.mjs`], 1_000],
  ["the SDK, every surface included", [`js/${releaseVersion()}/checkout.js`], 9_000],
  ["a console's script", globSync("console/console-*.js", { cwd: dist }), 8_000],
  ["a console's style", globSync("console/console-*.css", { cwd: dist }), 8_000],
  [
    "the script and style of the console's preview of the payment page",
    globSync("console/preview-*", { cwd: dist }),
    20_000,
  ],
  ["the hosted page's script and style", globSync("page/*", { cwd: dist }), 25_000],
] as const;

for (const [what, paths, bytesMax] of budgets) {
  test(`${what}: at most ${bytesMax} bytes`, () => {
    const bytes = paths.reduce((sum, path) => sum + gzipped(path), 0);
    console.log(`  ${what}: ${bytes} bytes`);
    assert.ok(bytes > 0 && bytes <= bytesMax);
  });
}

test.run();
