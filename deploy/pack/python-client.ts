// Packs the Python server library as a wheel (a zip with metadata, PEP 427) without Python, reproducibly.
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";
import { type ZipEntry, zipOf } from "./zip.ts";

const root = join(import.meta.dirname, "../..");
const library = join(root, "gateway/clients/python");

/** @returns the wheel's path */
export async function packPythonClient(folder: string): Promise<string> {
  const version = releaseVersion();
  const info = `tollbooth-${version}.dist-info`;
  const modules = globSync("tollbooth/**/{*.py,py.typed}", { cwd: library }).sort();
  const entries: ZipEntry[] = [];
  for (const name of modules) entries.push({ name, content: await readFile(join(library, name)) });
  const readme = await readFile(join(library, "README.md"), "utf8");
  entries.push(
    { name: `${info}/LICENSE`, content: await readFile(join(root, "LICENSE")) },
    { name: `${info}/METADATA`, content: Buffer.from(metadata(version, readme)) },
    { name: `${info}/WHEEL`, content: Buffer.from(wheel) },
  );
  entries.push({ name: `${info}/RECORD`, content: Buffer.from(recordOf(entries, `${info}/RECORD`)) });
  await mkdir(folder, { recursive: true });
  const path = join(folder, `tollbooth-${version}-py3-none-any.whl`);
  await writeFile(path, zipOf(entries));
  return path;
}

const wheel = "Wheel-Version: 1.0\nGenerator: tollbooth\nRoot-Is-Purelib: true\nTag: py3-none-any\n";

function metadata(version: string, readme: string): string {
  return [
    "Metadata-Version: 2.1",
    "Name: tollbooth",
    `Version: ${version}`,
    "Summary: Hosted checkout, payments, refunds and signed webhooks, from a merchant's backend.",
    "License: Apache-2.0",
    "Requires-Python: >=3.10",
    "Description-Content-Type: text/markdown",
    "",
    readme,
  ].join("\n");
}

/** The RECORD file: hash and size of each file except itself. */
function recordOf(entries: readonly ZipEntry[], own: string): string {
  const lines = entries.map(({ name, content }) => {
    const hash = createHash("sha256").update(content).digest("base64url");
    return `${name},sha256=${hash},${content.length}`;
  });
  return `${[...lines, `${own},,`].join("\n")}\n`;
}
