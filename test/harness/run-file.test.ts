// What a run of a file promises to whoever runs many: its end can be forced, and the next one still begins.
import assert from "node:assert/strict";
import { killRunning, runCheck } from "./run-file.ts";
import { suite } from "./suite.ts";

const test = suite("run of a file");
const limitMs = 20_000;

test("what runs is ended as a whole, and others begin after it", async () => {
  const endless = runCheck(process.execPath, ["-e", "console.log('up'); setInterval(() => {}, 1000)"], limitMs);
  const end = setInterval(killRunning, 100);
  try {
    assert.match((await endless).problem, /SIGKILL/);
  } finally {
    clearInterval(end);
  }
  assert.equal((await runCheck(process.execPath, ["-e", ""], limitMs)).problem, "");
});

test("a command is ended at its limit, and says so", async () => {
  const { problem, isLate } = await runCheck(process.execPath, ["-e", "setInterval(() => {}, 1000)"], 200);
  assert.deepEqual([problem, isLate], ["not done after 0.2 s", true]);
});

test.run();
