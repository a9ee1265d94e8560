// Finds mutants that do not compile: such a mutant proves nothing, since no test would be needed to see it. A run of the compiler takes
// longer than most kills, so that it looks at one mutant of every file at a time, and at single ones only when it finds something.
import { runCheck } from "../harness/run-file.ts";
import type { Mutant } from "./mutant.ts";
import type { Scratch } from "./scratch.ts";

const compilerMsMax = 180_000;

/** @returns those that do not compile, each with the compiler's first word. */
export async function uncompilable(
  scratch: Scratch,
  mutants: readonly Mutant[],
  say: (line: string) => void,
): Promise<Map<Mutant, string>> {
  const known = new Set(await compilerErrors());
  const newErrors = async (tried: readonly Mutant[]) =>
    (await scratch.with(tried, compilerErrors)).filter((error) => !known.has(error));
  const bad = new Map<Mutant, string>();
  const rounds = roundsOf(mutants);
  for (const [number, round] of rounds.entries()) {
    const found = await newErrors(round);
    say(`  ${number + 1} of ${rounds.length}: ${round.length} mutants, ${found.length} errors`);
    if (found.length === 0) continue;
    for (const mutant of round) {
      const [first] = await newErrors([mutant]);
      if (first !== undefined) bad.set(mutant, first);
    }
  }
  return bad;
}

/** Each round has at most one mutant of a file. */
function roundsOf(mutants: readonly Mutant[]): Mutant[][] {
  const rounds: Mutant[][] = [];
  for (const mutant of mutants) {
    const free = rounds.find((round) => round.every(({ file }) => file !== mutant.file));
    if (free) free.push(mutant);
    else rounds.push([mutant]);
  }
  return rounds;
}

/** Without places in the file, which a mutant may move. */
async function compilerErrors(): Promise<string[]> {
  const { output, isLate } = await runCheck("node_modules/.bin/tsc", ["--noEmit", "-p", "."], compilerMsMax);
  if (isLate) throw new Error("the compiler takes too long");
  return output
    .split("\n")
    .filter((line) => line.includes("error TS"))
    .map((line) => line.replace(/\(\d+,\d+\)/, ""));
}
