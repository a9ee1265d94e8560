// Writes the generated part of the server libraries from the OpenAPI document of this source tree. Usage: npm run
// generate -- clients
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { membersOf } from "#platform/values/members.ts";
import { ownDocument } from "../../gateway/openapi/document.ts";
import { clientModel } from "./clients/model.ts";
import { nodeFiles } from "./clients/node.ts";
import { pythonFiles } from "./clients/python.ts";

const root = join(import.meta.dirname, "../..");

/** Where generated files stand; nothing else does. */
export const generatedFolders = ["gateway/clients/node/gen", "gateway/clients/python/tollbooth/gen"] as const;

/** Every generated file by its path from the root. */
export function clientFiles(): Map<string, string> {
  const model = clientModel(membersOf(ownDocument()));
  const [node, python] = generatedFolders;
  return new Map([
    ...[...nodeFiles(model)].map(([name, text]) => [`${node}/${name}`, text] as const),
    ...[...pythonFiles(model)].map(([name, text]) => [`${python}/${name}`, text] as const),
  ]);
}

async function write(): Promise<void> {
  const files = clientFiles();
  for (const folder of generatedFolders) await rm(join(root, folder), { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    console.log(`${String(text.length).padStart(8)}  ${path}`);
  }
}

if (import.meta.main) await write();
