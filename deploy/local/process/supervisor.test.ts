import * as assert from "uvu/assert";
import { eventually } from "../../../test/harness/eventually.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { RunningProcess } from "./running-process.ts";
import { createSupervisor, type Part } from "./supervisor.ts";

const test = suite("supervisor");

/** A part without a process: the test says when it ends. */
function scripted(name: string) {
  const starts: { end(reason: string): void }[] = [];
  const part: Part & { problem: string } = {
    name,
    problem: "",
    async start(): Promise<RunningProcess> {
      if (part.problem) throw new Error(part.problem);
      let end = (_: string) => {};
      const exited = new Promise<string>((resolve) => {
        end = resolve;
      });
      starts.push({ end });
      return { pid: starts.length, exited, stop: async () => end("asked to") };
    },
  };
  return { part, starts };
}

test("a part that ends is started again after 0.2 s, then later each time, and said so", async () => {
  const lines: string[] = [];
  const { part, starts } = scripted("checkout");
  const supervisor = createSupervisor(
    (line) => lines.push(line),
    () => {},
  );
  await supervisor.start(part);
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

test("a part that was told to stop stays stopped, also in the pause before a restart", async () => {
  const { part, starts } = scripted("payments");
  let said = 0;
  const supervisor = createSupervisor(
    () => said++,
    () => {},
  );
  await supervisor.start(part);
  starts[0]?.end("exit code 1");
  await eventually("the pause", () => said === 1);
  await supervisor.stop("payments");
  assert.equal(supervisor.pids(), {});
  assert.is(starts.length, 1);
});

test("a first start that fails is thrown and not repeated; a restart that fails is repeated", async () => {
  const { part, starts } = scripted("webhook");
  const lines: string[] = [];
  const supervisor = createSupervisor(
    (line) => lines.push(line),
    () => {},
  );
  part.problem = "no database";
  try {
    await supervisor.start(part);
    assert.unreachable("it started");
  } catch (error) {
    assert.match(String(error), "no database");
  }
  part.problem = "";
  await supervisor.resume("webhook");
  part.problem = "no database";
  starts[0]?.end("exit code 1");
  await eventually("the failed restart to be said", () => lines.includes("no database"));
  part.problem = "";
  await eventually("the restart", () => starts.length === 2);
  await supervisor.stop("webhook");
});

test.run();
