// A run of files: each can be ended by force, and the next one still begins.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "../suite.ts";
import { tempDir } from "../temp-dir.ts";
import { killRunning, type Outcome, runCheck, runTestFiles } from "./run-file.ts";

const test = suite("run of a file");
const limitMs = 20_000;

test("what runs is ended as a whole, and others begin after it", async () => {
  const endless = runCheck("", process.execPath, ["-e", "console.log('up'); setInterval(() => {}, 1000)"], limitMs);
  const end = setInterval(killRunning, 100);
  try {
    assert.match((await endless).problem, /SIGKILL/);
  } finally {
    clearInterval(end);
  }
  assert.equal((await runCheck("", process.execPath, ["-e", ""], limitMs)).problem, "");
});

test("a command that reaches its limit is ended, with a message", async () => {
  const { problem, isLate } = await runCheck("", process.execPath, ["-e", "setInterval(() => {}, 1000)"], 200);
  assert.deepEqual([problem, isLate], ["not done after 0.2 s", true]);
});

/** Test files with these bodies, in a folder of their own. */
async function filesOf(bodies: Record<string, string>): Promise<string[]> {
  const folder = await tempDir("files");
  const head = `import { suite } from "${join(import.meta.dirname, "../suite.ts")}";\nconst test = suite("made");\n`;
  const files = Object.entries(bodies).map(([name, body]) => ({ path: join(folder, `${name}.ts`), body }));
  for (const { path, body } of files) await writeFile(path, `${head}${body}\ntest.run();\n`);
  return files.map(({ path }) => path);
}

async function outcomesOf(bodies: Record<string, string>, limitMs: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await runTestFiles(await filesOf(bodies), {}, limitMs, (outcome) => outcomes.push(outcome));
  return outcomes;
}

test("of files that share a process each passes or fails by its own tests, and one that dies takes no other with it", async () => {
  const bodies = {
    good: `test("a", () => {}); test("b", () => {});`,
    bad: `test("a", () => {}); test("b", () => { throw new Error("why"); });`,
    hook: `test.after(() => { throw new Error("why"); }); test("a", () => {});`,
    dies: `test("a", () => process.exit(0));`,
    unreadable: "test(",
    waits: `test("a", () => {}); setInterval(() => {}, 1000);`,
  };
  const outcomes = await outcomesOf(bodies, limitMs);
  assert.deepEqual(
    outcomes.map(({ name, passed, failed, problem }) => [name.split("/").at(-1), passed, failed, problem]),
    [
      ["good.ts", 2, 0, ""],
      ["bad.ts", 1, 1, ""],
      ["hook.ts", 1, 1, "it failed"],
      ["dies.ts", 0, 1, "exit code 1"],
      ["unreadable.ts", 0, 1, "it failed"],
      ["waits.ts", 1, 1, "exit code 1"],
    ],
  );
  assert.match(outcomes[1]?.output ?? "", /why/);
});

test("a file that hangs is ended at its limit, and the next one runs", async () => {
  const bodies = {
    hangs: `test("a", () => new Promise(() => setInterval(() => {}, 1000)));`,
    good: `test("a", () => {});`,
  };
  const outcomes = await outcomesOf(bodies, 4_000);
  assert.deepEqual(
    outcomes.map(({ failed, isLate }) => [failed, isLate]),
    [
      [1, true],
      [0, false],
    ],
  );
});

test.run();
