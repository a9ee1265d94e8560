// Packs a folder for npm, reproducibly.
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * @param fill puts the package's files into an empty folder; licence and manifest are added
 * @returns the tarball's path
 */
export async function packForNpm(
  folder: string,
  manifest: object,
  fill: (stage: string) => Promise<void>,
): Promise<string> {
  const stage = await mkdtemp(join(tmpdir(), "tollbooth-pack-"));
  try {
    await fill(stage);
    await copyFile(join(root, "LICENSE"), join(stage, "LICENSE"));
    await writeFile(join(stage, "package.json"), JSON.stringify(manifest, null, 2));
    await mkdir(folder, { recursive: true });
    const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(folder)], { cwd: stage });
    return join(folder, printed.toString().trim());
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Published code and declarations refer to `.js` files. */
export async function useJsImports(stage: string, pattern: string): Promise<void> {
  for (const path of globSync(pattern, { cwd: stage })) {
    await writeFile(join(stage, path), importsOfJs(await readFile(join(stage, path), "utf8")));
  }
}

export function importsOfJs(text: string): string {
  return text.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"');
}
