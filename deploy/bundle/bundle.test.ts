import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { sourceStack } from "#platform/telemetry/log.ts";
import { suite } from "../../test/harness/suite.ts";
import { tempDir } from "../../test/harness/temp-dir.ts";
import { consoleScript, mailboxScript } from "../local/consoles.ts";
import { oneScript, processNames, scriptOf, shopScript } from "../local/services.ts";
import { bundlePrograms } from "./bundle.ts";
import { findRunnable, keptBundle } from "./kept-bundle.ts";

const test = suite("bundle", { timeoutMs: 60_000 });
const modules = join(import.meta.dirname, "../../node_modules");

/** A small source tree: a program that prints its locations, and a CommonJS package. */
async function checkout(): Promise<string> {
  const root = realpathSync(await tempDir("bundle"));
  const files = {
    "services/paths.ts": `import { packagePlace } from "placed";
import { helper } from "./deep/helper.ts";
export const paths = { here: [import.meta.dirname, import.meta.filename, import.meta.url], packagePlace, deep: helper };
`,
    "services/main.ts": `import { paths } from "./paths.ts";
console.log(JSON.stringify(paths));
`,
    "services/deep/helper.ts": `export const helper: string = import.meta.dirname;

export function fail(): never {
  throw new Error("it broke");
}
`,
    "services/failing.ts": `import { fail } from "./deep/helper.ts";
try {
  fail();
} catch (error) {
  console.log((error as Error).stack);
}
`,
    "node_modules/placed/package.json": '{ "name": "placed", "main": "index.js" }',
    "node_modules/placed/index.js": `"use strict";
const isStrict = (function () { return this === undefined; })();
exports.packagePlace = [__dirname, __filename, isStrict, require("node:path").sep];
`,
    "node_modules/.package-lock.json": "{}",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const folder of ["gateway", "deploy", "proto/gen"]) await mkdir(join(root, folder), { recursive: true });
  return root;
}

async function inCheckout(work: (root: string) => Promise<void>): Promise<void> {
  const root = await checkout();
  try {
    await work(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const programs = ["services/main.ts", "services/failing.ts"];
const run = (script: string) => execFileSync(process.execPath, [script], { encoding: "utf8" });

test("bundled modules and packages see the paths of their sources", () =>
  inCheckout(async (root) => {
    const folder = join(root, "made");
    await bundlePrograms(root, programs, folder);
    const file = join(root, "services/paths.ts");
    const packageFolder = join(root, "node_modules/placed");
    assert.deepEqual(JSON.parse(run(join(folder, "services/main.mjs"))), {
      here: [join(root, "services"), file, pathToFileURL(file).href],
      packagePlace: [packageFolder, join(packageFolder, "index.js"), true, "/"],
      deep: join(root, "services/deep"),
    });
  }));

test("maps a logged stack trace of a bundle to source lines and changes no other text", () =>
  inCheckout(async (root) => {
    const folder = join(root, "made");
    await bundlePrograms(root, programs, folder);
    const stack = run(join(folder, "services/failing.mjs"));
    assert.match(stack, /\.mjs:\d+:\d+/);
    const [message, thrown, caught] = sourceStack(stack).split("\n");
    assert.equal(message, "Error: it broke");
    assert.ok(thrown?.includes(`${pathToFileURL(join(root, "services/deep/helper.ts"))}:4:`), thrown);
    assert.ok(caught?.includes(`${pathToFileURL(join(root, "services/failing.ts"))}:3:`), caught);
    const [named = ""] = /file:\S+\.mjs:\d+:\d+/.exec(stack) ?? [];
    const others = `Error: see ${named}\n    at file:///nowhere/x.mjs:1:1`;
    assert.equal(sourceStack(others), others);
  }));

test("reuses the bundle of equal sources and builds another for a changed or new source or other packages", () =>
  inCheckout(async (root) => {
    assert.equal(await keptBundle(root, programs), undefined, "without a bundler");
    for (const name of ["esbuild", "@esbuild"]) await symlink(join(modules, name), join(root, "node_modules", name));
    const first = await keptBundle(root, programs);
    assert.ok(first && existsSync(join(first, "services/main.mjs")));
    assert.equal(await keptBundle(root, programs), first);

    const seen = new Set([first]);
    const isAnother = async (what: string) => {
      const folder = await keptBundle(root, programs);
      assert.ok(folder && !seen.has(folder), what);
      seen.add(folder);
    };
    await writeFile(
      join(root, "services/deep/helper.ts"),
      'export const helper = "other";\nexport const fail = () => {};\n',
    );
    await isAnother("a changed source");
    await writeFile(join(root, "gateway/new.ts"), "");
    await isAnother("a new source");
    await utimes(join(root, "node_modules/.package-lock.json"), new Date(0), new Date(0));
    await isAnother("other packages");
  }));

test("programs of a local stack run from the bundle, the merchant's demo shop from its file", async () => {
  for (const script of [...processNames.map((name) => scriptOf(name)), oneScript, consoleScript, mailboxScript]) {
    const { script: bundledScript, compileCache } = await findRunnable(script);
    assert.match(bundledScript, /\/\.local-cache\/bundles\/\w+\/.*\.mjs$/);
    assert.ok(existsSync(bundledScript), bundledScript);
    assert.ok(compileCache);
  }
  assert.deepEqual(await findRunnable(shopScript), { script: shopScript });
});

test.run();
