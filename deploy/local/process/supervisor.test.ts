import * as assert from "uvu/assert";
import { eventually } from "../../../test/harness/eventually.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { RunningProcess } from "./running-process.ts";
import { type ChildSpec, createSupervisor } from "./supervisor.ts";

const test = suite("supervisor");

/** A child without a process: the test decides when it ends. */
function scripted(name: string) {
  const starts: { end(reason: string): void }[] = [];
  const child: ChildSpec & { problem: string } = {
    name,
    problem: "",
    async start(): Promise<RunningProcess> {
      if (child.problem) throw new Error(child.problem);
      let end = (_: string) => {};
      const exited = new Promise<string>((resolve) => {
        end = resolve;
      });
      starts.push({ end });
      return { pid: starts.length, exited, stop: async () => end("asked to") };
    },
  };
  return { part: child, starts };
}

test("restarts a child that ends after 0.2 s, then after longer pauses, and logs it", async () => {
  const lines: string[] = [];
  const { part: child, starts } = scripted("checkout");
  const supervisor = createSupervisor(
    (line) => lines.push(line),
    () => {},
  );
  await supervisor.start(child);
  starts[0]?.end("exit code 1");
  await eventually("the second start", () => starts[1]);
  starts[1]?.end("ended by SIGKILL");
  await eventually("the third start", () => supervisor.pids().checkout === 3);
  assert.equal(lines, [
    "checkout stopped (exit code 1); starting it again in 0.2 s",
    "checkout is back (pid 2)",
    "checkout stopped (ended by SIGKILL); starting it again in 0.4 s",
    "checkout is back (pid 3)",
  ]);
  await supervisor.stop("checkout");
});

test("a stopped child stays stopped, also if it was waiting for a restart", async () => {
  const { part: child, starts } = scripted("payments");
  let lineCount = 0;
  const supervisor = createSupervisor(
    () => lineCount++,
    () => {},
  );
  await supervisor.start(child);
  starts[0]?.end("exit code 1");
  await eventually("the pause", () => lineCount === 1);
  await supervisor.stop("payments");
  assert.equal(supervisor.pids(), {});
  assert.is(starts.length, 1);
});

test("throws when a first start fails, and repeats a failed restart", async () => {
  const { part: child, starts } = scripted("webhook");
  const lines: string[] = [];
  const supervisor = createSupervisor(
    (line) => lines.push(line),
    () => {},
  );
  child.problem = "no database";
  try {
    await supervisor.start(child);
    assert.unreachable("it started");
  } catch (error) {
    assert.match(String(error), "no database");
  }
  child.problem = "";
  await supervisor.resume("webhook");
  child.problem = "no database";
  starts[0]?.end("exit code 1");
  await eventually("the failed restart in the log", () => lines.includes("no database"));
  child.problem = "";
  await eventually("the restart", () => starts.length === 2);
  await supervisor.stop("webhook");
});

test.run();
