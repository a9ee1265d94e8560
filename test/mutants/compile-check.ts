// Finds mutants that do not compile: such a mutant proves nothing, since no test would be needed to see it. Each one
// stands as a file of its own beside its original, so that one run of the compiler looks at all of them.
import { readFile, rm, writeFile } from "node:fs/promises";
import { runCheck } from "../harness/run/run-file.ts";
import { type Mutant, mutated } from "./mutant.ts";

const compilerMsMax = 300_000;

/**
 * Works in the current folder, a copy of the project. @returns those that do not compile, each with the compiler's
 * first word.
 */
export async function uncompilable(mutants: readonly Mutant[]): Promise<Map<Mutant, string>> {
  const paths = new Map(mutants.map((mutant, i) => [mutant.file.replace(/\.ts$/, `-mutant-${i}.ts`), mutant]));
  for (const [path, mutant] of paths) await writeFile(path, mutated(mutant, await readFile(mutant.file, "utf8")));
  const { output, isLate } = await runCheck("types", "node_modules/.bin/tsc", ["--noEmit", "-p", "."], compilerMsMax);
  for (const path of paths.keys()) await rm(path);
  if (isLate) throw new Error("the compiler takes too long");
  const bad = new Map<Mutant, string>();
  for (const [, path = "", error = ""] of output.matchAll(/^(\S+?)\(\d+,\d+\): (error TS.*)$/gm)) {
    const mutant = paths.get(path);
    if (mutant && !bad.has(mutant)) bad.set(mutant, error);
  }
  return bad;
}
