// docs/states.md and its pictures show what the rules do. `npm run generate -- tables` writes them.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../harness/suite.ts";
import { pictureOf, sectionOf } from "./machine.ts";
import { machines } from "./machines.ts";

const test = suite("states");
const docs = join(import.meta.dirname, "../../docs");

const page = `# States

Each status of a session, payment, refund, dispute and delivery: what it means, and what changes it. Written from the rules by
\`npm run generate -- tables\`; a test compares. What is not here does not happen: a report that would move something elsewhere is late, and ignored.

${machines.map(sectionOf).join("\n")}`;
const files = new Map([
  ["states.md", page],
  ...machines.map((machine) => [`states/${machine.name}.svg`, pictureOf(machine)] as const),
]);

test("the page and the pictures of every machine are what its rules do", () => {
  for (const [name, text] of files) {
    if (process.env.UPDATE) writeFileSync(join(docs, name), text);
    assert.equal(readFileSync(join(docs, name), "utf8"), text, `${name}: npm run generate -- tables`);
  }
});

test("every state of a machine can be reached, and no move leads to one that it does not have", () => {
  for (const { name, states, moves } of machines) {
    const names = Object.keys(states);
    const reached = new Set([names[0], ...moves.map(({ to }) => to)]);
    // The possible first reports of a processor.
    const openings = name === "dispute" ? ["warning_needs_response", "needs_response"] : [];
    assert.deepEqual([...new Set([...reached, ...openings])].sort(), names.sort(), name);
  }
});

test.run();
