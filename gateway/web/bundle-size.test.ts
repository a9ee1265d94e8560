import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { releaseVersion } from "#platform/values/release.ts";
import { suite } from "../../test/harness/suite.ts";
import { bundleSizes } from "./bundle-sizes.ts";

const test = suite("bundle size");
const dist = join(import.meta.dirname, "dist");

const sizes = [
  ...bundleSizes,
  { what: "a console's script", files: "console/console-*.js", bytesMax: 8_000 },
  { what: "a console's style", files: "console/console-*.css", bytesMax: 8_000 },
  { what: "the console's preview of the payment page", files: "console/preview-*", bytesMax: 20_000 },
];

for (const { what, files, bytesMax } of sizes) {
  test(`${what} has at most ${bytesMax} bytes`, () => {
    const paths = globSync(files.replace("{version}", releaseVersion()), { cwd: dist });
    const gzipped = paths.map((path) => gzipSync(readFileSync(join(dist, path)), { level: 9 }).length);
    const bytes = gzipped.reduce((sum, each) => sum + each, 0);
    console.log(`  ${what}: ${bytes} bytes`);
    assert.ok(bytes > 0 && bytes <= bytesMax);
  });
}

test.run();
