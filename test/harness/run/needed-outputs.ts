// What a run reads of what is built and not in git (deploy/generate/output.ts): built once, before its first file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type OutputName, outputs } from "../../../deploy/generate/output.ts";

/** What names an output in a test file; files for browsers are in every stack. */
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
