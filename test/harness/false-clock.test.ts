// The clock of a running process can be stepped from outside, and nothing but Date is wrong then.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { eventually } from "./eventually.ts";
import { falseClocks } from "./false-clock.ts";
import { suite } from "./suite.ts";
import { tempDir } from "./temp-dir.ts";

const test = suite("false clocks");

/** Answers each line of input with the process's times. */
const script = `process.stdin.on("data", () => console.log(JSON.stringify({
  now: Date.now(), made: new Date().getTime(), given: new Date(5).getTime(), isDate: new Date() instanceof Date,
  parsed: Date.parse("2020-01-01T00:00:00Z"), monotonic: performance.timeOrigin + performance.now() })))`;

test("a step changes Date within a moment, but neither stored times nor the monotonic clock", async () => {
  const dir = await tempDir("clock");
  const clocks = falseClocks(dir, ["one", "two"]);
  assert.deepEqual(clocks.environmentOf("simulator"), {}, "the outside company has its own clock");
  const env = { ...process.env, ...clocks.environmentOf("one") };
  const child = spawn(process.execPath, ["-e", script], { env, stdio: ["pipe", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: child.stdout });
    const ask = async () => {
      child.stdin.write("\n");
      const [line] = await once(lines, "line");
      return JSON.parse(line);
    };
    for (const offsetMs of [0, 3_600_000, -600_000, 0]) {
      clocks.step("one", offsetMs);
      const reading = await eventually("the step", async () => {
        const answer = await ask();
        return Math.abs(answer.now - Date.now() - offsetMs) < 30_000 ? answer : undefined;
      });
      assert.ok(Math.abs(reading.made - reading.now) < 1_000);
      assert.ok(Math.abs(reading.monotonic - Date.now()) < 30_000);
      assert.deepEqual([reading.given, reading.isDate, reading.parsed], [5, true, 1_577_836_800_000]);
    }
  } finally {
    child.kill();
    await once(child, "close");
    await rm(dir, { recursive: true });
  }
});

test.run();
