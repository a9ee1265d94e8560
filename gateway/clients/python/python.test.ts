// Runs the Python library's own tests.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { promisify } from "node:util";
import { python } from "../../../test/harness/files/python.ts";
import { suite } from "../../../test/harness/suite.ts";

const test = suite("Python library", { timeoutMs: 60_000 });
const run = promisify(execFile);
const folder = import.meta.dirname;

for (const file of globSync("tests/test_*.py", { cwd: folder }).sort()) {
  const name = `${file} passes`;
  if (python === undefined) {
    test.skip(name, "there is no Python 3.10 or newer");
    continue;
  }
  const command = python;
  test(name, async () => {
    const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    // Warnings are errors, such as an unclosed connection.
    const args = ["-W", "error", "-m", "unittest", "-v", `${file.replace(/\.py$/, "").replace("/", ".")}`];
    const { stderr } = await run(command, args, { cwd: folder, env, timeout: 55_000 });
    assert.match(stderr, /\nRan [1-9]\d* tests? .*\n\nOK\n$/);
  });
}

test.run();
