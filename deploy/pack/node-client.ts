// Packs the Node server library: one JavaScript file, which loads in half the time of many, and its declarations.
import { execFileSync } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { releaseVersion } from "#platform/values/release.ts";
import { packForNpm, useJsImports } from "./npm-package.ts";
import { repositoryOf } from "./repository.ts";

const root = join(import.meta.dirname, "../..");
const library = join(root, "gateway/clients/node");

/** @returns the tarball's path */
export async function packNodeClient(folder: string): Promise<string> {
  return await packForNpm(folder, manifest(releaseVersion()), async (stage) => {
    await build({
      entryPoints: [join(library, "tollbooth.ts")],
      outfile: join(stage, "tollbooth.js"),
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      logLevel: "error",
    });
    const tsc = join(root, "node_modules/.bin/tsc");
    execFileSync(tsc, [
      "-p",
      library,
      "--noEmit",
      "false",
      "--declaration",
      "--emitDeclarationOnly",
      "--outDir",
      stage,
    ]);
    await useJsImports(stage, "**/*.d.ts");
    await copyFile(join(library, "README.md"), join(stage, "README.md"));
  });
}

function manifest(version: string) {
  return {
    name: "@tollbooth/node",
    version,
    description: "Hosted checkout, payments, refunds and signed webhooks, from a merchant's backend.",
    license: "Apache-2.0",
    ...repositoryOf(root, "gateway/clients/node"),
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": { types: "./tollbooth.d.ts", default: "./tollbooth.js" } },
    types: "./tollbooth.d.ts",
    files: ["tollbooth.js", "*.d.ts", "gen"],
  };
}
