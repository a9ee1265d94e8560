// No exit of a process leaves a secret behind: it prints one masked log line, or the runtime's own last words, and
// writes no file.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";

const test = suite("process");
const secret = "0123456789abcdefSECRET";
const url = "postgres://checkout:0123456789abcdefSECRET@db:5432/checkout";
/** Like a driver's error: the secret is in the message, in a field that printing shows, and in the cause. */
const failure = `Object.assign(new Error("no answer from ${url} for sk_live_${secret}", { cause: new Error("whsec_${secret}") }),
  { config: { password: "${secret}" }, input: "${url}", headers: { authorization: "Bearer ${secret}" } })`;
const deaths = {
  "an uncaught exception": `setImmediate(() => { throw ${failure} }); return running;`,
  "an unhandled rejection": `Promise.reject(${failure}); return running;`,
  "a start that fails": `throw ${failure};`,
  "something thrown that is no error": `setImmediate(() => { throw { password: "${secret}" } }); return running;`,
};

/** Runs a process with this start function in its own folder. */
async function die(start: string, options: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const folder = await tempDir("death");
  const code = `
    import { runProcess } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
    const running = { ready: async () => true, stop: async () => {} };
    setInterval(() => {}, 1_000);
    await runProcess("dying", () => ({}), async () => { ${start} });`;
  try {
    // Core files are not tested: the machine's limit decides (docs/production.md).
    const shell = [
      "-c",
      'ulimit -c 0; exec "$0" "$@"',
      process.execPath,
      ...options,
      "--input-type=module",
      "-e",
      code,
    ];
    const { status, stdout, stderr } = spawnSync("/bin/sh", shell, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    return { status, stdout, output: stdout + stderr, files: readdirSync(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a fatal error prints one line without secrets, exits with code 1 and writes no file", async () => {
  for (const [how, start] of Object.entries(deaths)) {
    const { status, stdout, output, files } = await die(start);
    assert.equal(status, 1, `${how}: ${output}`);
    const lines = stdout
      .trim()
      .split("\n")
      .filter((line) => line.includes('"fatal"'));
    assert.equal(lines.length, 1, `${how}: ${output}`);
    assert.ok(!output.includes(secret), `${how}: ${output}`);
    assert.deepEqual(files, [], how);
  }
});

test("a process out of memory reveals no data and writes no file", async () => {
  const start = `const held = []; for (;;) held.push("sk_live_${secret}".repeat(100) + held.length);`;
  const { status, output, files } = await die(start, ["--max-old-space-size=24"]);
  assert.notEqual(status, 0);
  assert.match(output, /heap out of memory/);
  assert.ok(!output.includes(secret), output);
  assert.deepEqual(files, []);
});

test("an unknown LOG_LEVEL ends the process with one line that names it", async () => {
  const start = `
    const { logLevels, oneOf, readConfig } = await import(${JSON.stringify(join(import.meta.dirname, "config.ts"))});
    readConfig({ LOG_LEVEL: oneOf(...logLevels) });
    return running;`;
  const { status, output } = await die(start, [], { LOG_LEVEL: "loud" });
  assert.equal(status, 1);
  assert.equal(output.trim(), "dying: LOG_LEVEL must be one of debug, info, warn, error");
});

test.run();
