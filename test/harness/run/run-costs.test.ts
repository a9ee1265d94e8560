// The order of a run, and its report of costs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { suite } from "../suite.ts";
import { tempDir } from "../temp-dir.ts";
import { type Cost, costTable, keepCosts, keptCosts, longestFirst } from "./run-costs.ts";
import { runCheck } from "./run-file.ts";

const test = suite("costs of a run");
const limitMs = 30_000;
const cost = (name: string, seconds: number, cpuSeconds?: number): Cost => ({
  name,
  group: "flows",
  seconds,
  cpuSeconds,
});

test("the CPU seconds of a run are those of its program and the programs that this one started", async () => {
  const burn = "while (process.cpuUsage().user < 300_000);";
  const burnTwice = `require("node:child_process").execFileSync(process.execPath, ["-e", "${burn}"]); ${burn}`;
  const dear = await runCheck("", process.execPath, ["-e", burnTwice], limitMs);
  const cheap = await runCheck("", process.execPath, ["-e", ""], limitMs);
  if (process.platform !== "linux") return assert.equal(dear.cpuSeconds, undefined);
  assert.ok((dear.cpuSeconds ?? 0) >= 0.6, `${dear.cpuSeconds} s`);
  assert.ok((cheap.cpuSeconds ?? 1) < 0.3, `${cheap.cpuSeconds} s`);
});

test("what never ran comes first, then what took longest; nothing is left out", () => {
  const jobs = ["short", "new", "long", "newer"].map((name) => ({ names: [name] }));
  const names = longestFirst(jobs, { short: 1, long: 9, gone: 99 }).flatMap((job) => job.names);
  assert.deepEqual(names, ["new", "newer", "long", "short"]);
});

test("a run of some files keeps the costs of other files from earlier runs", async () => {
  const path = join(await tempDir("costs"), "new", "costs.json");
  assert.deepEqual(keptCosts(path), {});
  await keepCosts(path, [cost("a", 1), cost("b", 2)]);
  await keepCosts(path, [cost("b", 3)]);
  assert.deepEqual(keptCosts(path), { a: 1, b: 3 });
});

test("the table has the sums of each group and the dearest files first", () => {
  const lines = costTable([cost("a", 1, 0.5), cost("b", 2, 4), cost("c", 1.5)]);
  assert.deepEqual(
    lines.slice(1).map((line) => line.trim().split(/ +/)),
    [
      ["4.5", "4.5", "flows", "(3)"],
      ["the", "dearest", "files:"],
      ["2.0", "4.0", "b"],
      ["1.0", "0.5", "a"],
      ["1.5", "?", "c"],
    ],
  );
});

test.run();
