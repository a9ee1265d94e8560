// What browsers have to load, counted in gzipped bytes.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../test/harness/suite.ts";
import { bundleSizes, sizeOf } from "./bundle-sizes.ts";

const test = suite("bundle size");
const inDist = (pattern: string) => globSync(pattern, { cwd: join(import.meta.dirname, "dist") });

const sizes = [
  ...bundleSizes(),
  sizeOf("a console's script", inDist("console/console-*.js"), 8_000),
  sizeOf("a console's style", inDist("console/console-*.css"), 8_000),
  sizeOf("the script and style of the console's preview of the payment page", inDist("console/preview-*"), 20_000),
];

for (const { what, bytes, bytesMax } of sizes) {
  test(`${what}: at most ${bytesMax} bytes`, () => {
    console.log(`  ${what}: ${bytes} bytes`);
    assert.ok(bytes > 0 && bytes <= bytesMax);
  });
}

test.run();
