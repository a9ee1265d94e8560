// Packs the SDK for npm: the loader, which is 1 kB and fetches the rest from your Tollbooth, and the types of
// everything. Usage: npm run pack
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";

const web = import.meta.dirname;
const root = join(web, "../..");

/** @returns the tarball's path */
export async function packSdk(folder: string): Promise<string> {
  const stage = await mkdtemp(join(tmpdir(), "tollbooth-sdk-"));
  try {
    const version = releaseVersion();
    const types = join(stage, "types");
    const tsc = join(root, "node_modules/.bin/tsc");
    const emit = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", types];
    execFileSync(tsc, ["-p", join(web, "tsconfig.json"), ...emit]);
    await rm(join(types, "page"), { recursive: true, force: true });
    await rm(join(types, "texts"), { recursive: true, force: true });
    // Declarations name the files beside them as a published package does.
    for (const path of globSync("**/*.d.ts", { cwd: types })) {
      const text = await readFile(join(types, path), "utf8");
      await writeFile(join(types, path), text.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
    }
    await copyFile(join(web, "dist/js", version, "loader.mjs"), join(stage, "loader.mjs"));
    await copyFile(join(web, "README.md"), join(stage, "README.md"));
    await copyFile(join(root, "LICENSE"), join(stage, "LICENSE"));
    await writeFile(join(stage, "package.json"), JSON.stringify(manifest(version), null, 2));
    await mkdir(folder, { recursive: true });
    const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(folder)], { cwd: stage });
    return join(folder, printed.toString().trim());
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

function manifest(version: string) {
  return {
    name: "@tollbooth/checkout-js",
    version,
    license: "Apache-2.0",
    description: "Takes payments in a browser with the secret of one Tollbooth checkout session.",
    type: "module",
    sideEffects: false,
    exports: { ".": { types: "./types/sdk/loader.d.ts", default: "./loader.mjs" } },
    types: "./types/sdk/loader.d.ts",
    files: ["loader.mjs", "types"],
  };
}
