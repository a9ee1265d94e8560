// `npm run prove -- mutants`: makes one wrong edit of the money rules after another and expects that the edit's unit
// test fails. The edit is made while Node loads the file, so the working tree stays as it is.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { type Mutant, mutants } from "./mutant-list.ts";

const self = import.meta.filename;
const testMsMax = 30_000; // a unit test takes less than a second; a mutant may make it endless

const number = process.env.MUTANT;
if (number === undefined) proveAll();
else plantMutant(mutants[Number(number)]);

/** Exit code 1 when an edit lives, does not fit its file any more, or a test fails without one. */
function proveAll(): void {
  const problems = mutants.flatMap((mutant) => problemOf(mutant));
  for (const test of new Set(mutants.map((mutant) => mutant.test))) {
    if (runTest(test).status !== 0) problems.push(`${test} fails without an edit`);
  }
  if (problems.length === 0) {
    for (const [index, { file, find, replace, test }] of mutants.entries()) {
      const { status, stdout, stderr } = runTest(test, index);
      // An edit that does not compile ends the process before a test, which proves nothing.
      const isKilled = status !== 0 && `${stdout}${stderr}`.includes("FAIL");
      console.log(`${isKilled ? "killed" : "LIVES "}  ${file}: ${find} → ${replace || "(nothing)"}`);
      if (!isKilled) problems.push(`${file}: ${find} lives`);
    }
  }
  for (const problem of problems) console.error(problem);
  console.log(`${mutants.length} mutants, ${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}

function problemOf({ file, find }: Mutant): string[] {
  const count = readFileSync(file, "utf8").split(find).length - 1;
  return count === 1 ? [] : [`${file} contains ${JSON.stringify(find)} ${count} times, not once`];
}

function runTest(test: string, mutant?: number) {
  const env = { ...process.env, ...(mutant !== undefined && { MUTANT: String(mutant) }) };
  const words = mutant === undefined ? [test] : ["--import", self, test];
  return spawnSync(process.execPath, words, { env, encoding: "utf8", timeout: testMsMax });
}

/** In the test's process, before the test is loaded. */
function plantMutant(mutant: Mutant | undefined): void {
  if (!mutant) throw new Error(`there is no mutant ${number}`);
  const url = pathToFileURL(mutant.file).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context);
      if (loaded !== url) return module;
      return { ...module, source: readFileSync(mutant.file, "utf8").replace(mutant.find, () => mutant.replace) };
    },
  });
}
