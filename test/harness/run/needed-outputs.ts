// Generated files that a run reads (deploy/generate/output.ts): built once, before its first test file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type OutputName, outputs } from "../../../deploy/generate/output.ts";

/** Signs in a test file that it needs an output; every stack needs the browser files. */
const signs: Readonly<Record<OutputName, RegExp>> = {
  web: /./,
  clients: /clients\/(?:node|python)/,
  docs: /["`}]\/docs\b/,
};

/** @param files that the run has, from the root @param hasTypeCheck it reads the server libraries whole */
export function neededOutputs(root: string, files: readonly string[], hasTypeCheck: boolean): OutputName[] {
  const texts = files.map((file) => `${file}\n${readFileSync(join(root, file), "utf8")}`);
  const names = Object.keys(outputs) as OutputName[];
  return names.filter((name) => (name === "clients" && hasTypeCheck) || texts.some((text) => signs[name].test(text)));
}
