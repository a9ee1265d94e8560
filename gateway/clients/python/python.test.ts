// Runs the Python library's own tests.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { python } from "../../../test/harness/files/python.ts";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";

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

const prelude = `import tollbooth
from tollbooth import Tollbooth, verify_webhook
client = Tollbooth(api_key="sk", base_url="https://api.example.com")
`;

const strict = "mypy --strict accepts the samples of the README and narrows an event by its type";
if (!hasMypy()) test.skip(strict, "there is no mypy");
else
  test(strict, async () => {
    const readme = readFileSync(join(folder, "README.md"), "utf8");
    const [quickstart = "", ...others] = [...readme.matchAll(/```python\n(.*?)```/gs)].map(([, code = ""]) => code);
    const events = `event = verify_webhook(b"", "", "whsec_x")
if event.type == "payment.succeeded":
    reveal_type(event)
`;
    const dir = await tempDir("mypy");
    const codes = [quickstart, ...[...others, events].map((code) => prelude + code)];
    const names = codes.map((_, i) => join(dir, `sample_${i}.py`));
    for (const [i, name] of names.entries()) await writeFile(name, codes[i] ?? "");
    const env = { ...process.env, MYPYPATH: folder };
    const args = ["--strict", "--python-version", "3.10", "--cache-dir", join(dir, "cache"), ...names];
    const { stdout } = await run("mypy", args, { cwd: dir, env, timeout: 55_000 }).catch((error) => error);
    assert.match(stdout, /Revealed type is "tollbooth\.gen\.webhook_events\.PaymentSucceededEvent"/);
    assert.match(stdout, /Success: no issues found in [4-9] source files/);
  });

function hasMypy(): boolean {
  try {
    execFileSync("mypy", ["--version"], { stdio: "pipe", timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

test.run();
