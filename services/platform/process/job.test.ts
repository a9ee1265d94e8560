import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { register } from "prom-client";
import { createLog } from "#platform/telemetry/log.ts";
import { suite } from "../../../test/harness/suite.ts";
import { startJobs } from "./job.ts";

const test = suite("jobs");
const log = createLog("test", "silent");

test("a process with a hanging job names it, stops being ready and exits with code 1", () => {
  const code = `
    import { runProcess } from ${JSON.stringify(urlOf("../process/process.ts"))};
    import { startJobs } from ${JSON.stringify(urlOf("job.ts"))};
    import { createLog } from ${JSON.stringify(urlOf("../telemetry/log.ts"))};
    setInterval(() => {}, 1_000);
    await runProcess("hanging", () => ({}), async () => {
      const jobs = startJobs(
        [{ name: "relay-outbox", everyMs: 1, limitMs: 50, runOnce: () => new Promise(() => {}) }],
        createLog("hanging", "info"),
      );
      return { ready: async () => true, stop: () => jobs.stop() };
    });`;
  const env = { ...process.env, DRAIN_SECONDS: "2" };
  const options = ["--input-type=module", "-e", code];
  const { status, signal, stdout } = spawnSync(process.execPath, options, { encoding: "utf8", env, timeout: 40_000 });
  assert.deepEqual([status, signal], [1, null], stdout);
  const lines = stdout.trim().split("\n");
  const hanging = lines.filter((line) => line.includes("job hung"));
  assert.equal(hanging.length, 1, stdout);
  assert.match(hanging[0] ?? "", /"job":"relay-outbox"/);
  assert.ok(
    lines.some((line) => line.includes('"why":"SIGTERM"')),
    "in order, as when its supervisor ends it",
  );
});

test("the limit applies to each run alone", async () => {
  const limitMs = 2_500;
  let [runs, hangs] = [0, 0];
  const began = performance.now();
  let over = () => {};
  const isOver = new Promise<void>((resolve) => (over = resolve));
  const runOnce = async () => {
    runs += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (performance.now() - began > limitMs + 500) over();
    return true;
  };
  const jobs = startJobs([{ name: "sweep", everyMs: 1, limitMs, runOnce }], log, undefined, () => hangs++);
  await isOver;
  assert.match(await register.metrics(), /^tollbooth_job_limit_seconds\{name="sweep"\} 2\.5$/m);
  await jobs.stop();
  assert.ok(runs > 1);
  assert.equal(hangs, 0);
});

function urlOf(file: string): string {
  return pathToFileURL(join(import.meta.dirname, file)).href;
}

test.run();
