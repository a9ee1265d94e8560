// Packs the Node server library: one JavaScript file, which loads in half the time of many, and its declarations.
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { releaseVersion } from "#platform/values/release.ts";
import { repositoryOf } from "./repository.ts";

const root = join(import.meta.dirname, "../..");
const library = join(root, "gateway/clients/node");

/** @returns the tarball's path */
export async function packNodeClient(folder: string): Promise<string> {
  const stage = await mkdtemp(join(tmpdir(), "tollbooth-node-"));
  try {
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
    // Published declarations refer to `.js` files.
    for (const path of globSync("**/*.d.ts", { cwd: stage })) {
      const text = await readFile(join(stage, path), "utf8");
      await writeFile(join(stage, path), text.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
    }
    await copyFile(join(library, "README.md"), join(stage, "README.md"));
    await copyFile(join(root, "LICENSE"), join(stage, "LICENSE"));
    await writeFile(join(stage, "package.json"), JSON.stringify(manifest(releaseVersion()), null, 2));
    await mkdir(folder, { recursive: true });
    const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(folder)], { cwd: stage });
    return join(folder, printed.toString().trim());
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
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
