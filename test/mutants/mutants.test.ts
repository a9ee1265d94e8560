// The list of mutants is kept whole: each finds its text and changes it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../harness/suite.ts";
import { Killers } from "./killers.ts";
import { editOf, mutated } from "./mutant.ts";
import { mutants } from "./mutants.ts";

const test = suite("list of mutants");
const root = join(import.meta.dirname, "../..");
const mutantsMin = 80;

test(`there are ${mutantsMin} mutants or more, and no two are the same`, () => {
  assert.ok(mutants.length >= mutantsMin, `${mutants.length}`);
  const edits = mutants.map(({ file, find, replace }) => JSON.stringify([file, find, replace]));
  assert.deepEqual(
    edits.filter((edit, i) => edits.indexOf(edit) !== i),
    [],
  );
});

test("each mutant finds its text exactly once in its file and changes it, and says what it breaks", () => {
  const lost = mutants.flatMap((mutant) => {
    const path = join(root, mutant.file);
    if (!existsSync(path)) return [`${mutant.file} is gone`];
    try {
      const text = readFileSync(path, "utf8");
      return mutated(mutant, text) !== text && mutant.breaks !== "" ? [] : [`${mutant.file}: ${editOf(mutant)}`];
    } catch (error) {
      return [String(error)];
    }
  });
  assert.deepEqual(lost, []);
});

test("each file with mutants has tests of every stage that may kill them, or at least flow tests and a walk", () => {
  const killers = new Killers(root);
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const stages = new Set(killers.of(file).map(({ stage }) => stage));
    assert.ok(stages.has("flow tests") && stages.has("walk"), file);
  }
});

test.run();
