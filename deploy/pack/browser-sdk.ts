// Packs the browser SDK for npm: the 1 kB loader, which fetches the rest from the Tollbooth gateway, the element, and
// all types.
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";
import { importsOfJs, packForNpm } from "./npm-package.ts";
import { repositoryOf } from "./repository.ts";

const root = join(import.meta.dirname, "../..");
const sdk = join(root, "gateway/web/sdk");
/** Types of the public package; other types are internal. */
const publicTypes = ["package/loader", "package/checkout-element", "contract", "error-code", "money"];

/** @returns the tarball's path */
export async function packSdk(folder: string): Promise<string> {
  const version = releaseVersion();
  return await packForNpm(folder, manifest(version), async (stage) => {
    const all = join(stage, "all");
    const types = join(stage, "types");
    await mkdir(join(types, "package"), { recursive: true });
    const tsc = join(root, "node_modules/.bin/tsc");
    const emit = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", all];
    execFileSync(tsc, ["-p", join(sdk, ".."), ...emit]);
    for (const name of publicTypes) {
      const text = await readFile(join(all, "sdk", `${name}.d.ts`), "utf8");
      await writeFile(join(types, `${name}.d.ts`), importsOfJs(text));
    }
    const dist = join(root, "gateway/web/dist/js", version);
    for (const name of ["loader.mjs", "element.mjs"]) {
      const text = await readFile(join(dist, name), "utf8");
      await writeFile(join(stage, name), text.replace(/\/\/# sourceMappingURL=.*\n/, ""));
    }
    await copyFile(join(sdk, "README.md"), join(stage, "README.md"));
  });
}

function manifest(version: string) {
  return {
    name: "@tollbooth/checkout-js",
    version,
    description: "Takes payments in a browser with the secret of one Tollbooth checkout session.",
    keywords: ["tollbooth", "checkout", "payments"],
    license: "Apache-2.0",
    ...repositoryOf(root, "gateway/web/sdk"),
    type: "module",
    sideEffects: ["./element.mjs"],
    exports: {
      ".": { types: "./types/package/loader.d.ts", default: "./loader.mjs" },
      "./element": { types: "./types/package/checkout-element.d.ts", default: "./element.mjs" },
    },
    types: "./types/package/loader.d.ts",
    files: ["loader.mjs", "element.mjs", "types"],
  };
}
