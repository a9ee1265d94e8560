// The runner's promise about flakes: a second chance hides nothing, and only a pass of the whole file takes it.
import assert from "node:assert/strict";
import { suite } from "../suite.ts";
import type { Outcome } from "./run-file.ts";
import { type Job, type Lanes, runJobs } from "./run-jobs.ts";

const test = suite("run jobs");
const good: Outcome = {
  name: "",
  passed: 2,
  failed: 0,
  skipped: 0,
  ms: 1,
  cpuSeconds: 0,
  problem: "",
  output: "",
  isLate: false,
};
const bad: Outcome = { ...good, passed: 1, failed: 1, output: "why" };

const two: Lanes = { least: 2, most: 2, hasRoom: () => true };

/** A file alone in its job, with these outcomes, one for each run. */
function job(name: string, first: Outcome, ...again: Outcome[]): Job {
  const [second] = again;
  return {
    names: [name],
    run: async (report) => report({ ...first, name }),
    ...(second && { runAgain: async () => ({ ...second, name }) }),
  };
}

async function reported(...jobs: Job[]) {
  const lines: string[] = [];
  const flaky = await runJobs(jobs, two, ({ name, failed }, standing) => lines.push(`${name} ${failed} ${standing}`));
  return { lines, flaky };
}

test("a file that fails once is reported both times, and is flaky only when the second run passes whole", async () => {
  const { lines, flaky } = await reported(job("a", bad, good), job("b", bad, bad), job("c", good, bad));
  assert.deepEqual(lines, ["a 1 repeated", "b 1 repeated", "c 0 counts", "a 0 counts", "b 1 counts"]);
  assert.deepEqual(flaky, ["a"]);
});

test("of files that share a process only the one that failed runs again", async () => {
  const names = ["a", "b"];
  const rerun: string[] = [];
  const runAgain = async (name: string) => {
    rerun.push(name);
    return { ...good, name };
  };
  const both: Job = {
    names,
    run: async (report) => {
      report({ ...good, name: "a" });
      report({ ...bad, name: "b" });
    },
    runAgain,
  };
  assert.deepEqual((await reported(both)).lines, ["a 0 counts", "b 1 repeated", "b 0 counts"]);
  assert.deepEqual(rerun, ["b"]);
});

test("what may not be repeated, and what ended by its time limit, has one run", async () => {
  const { lines, flaky } = await reported(job("check", bad), job("hang", { ...bad, isLate: true }, good));
  assert.deepEqual([lines, flaky], [["check 1 counts", "hang 1 counts"], []]);
});

test("a repeated file runs alone, after all others", async () => {
  let running = 0;
  const slow = async (outcome: Outcome) => {
    running++;
    await new Promise(setImmediate);
    running--;
    return outcome;
  };
  const alone = async (name: string) => {
    assert.equal(running, 0);
    return slow({ ...good, name });
  };
  const jobs = ["a", "b", "c", "d"].map(
    (name): Job => ({ names: [name], run: async (report) => report(await slow({ ...bad, name })), runAgain: alone }),
  );
  assert.deepEqual(await runJobs(jobs, two, () => {}), ["a", "b", "c", "d"]);
});

test("more than the least run at once while there is room, and never more than the most", async () => {
  const seenWith = async (room: number) => {
    let [running, most] = [0, 0];
    const run: Job["run"] = async (report) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      report(good);
    };
    const jobs = Array.from({ length: 12 }, (_, at): Job => ({ names: [`${at}`], run }));
    await runJobs(jobs, { least: 2, most: 5, hasRoom: () => running < room }, () => {});
    return most;
  };
  assert.deepEqual([await seenWith(0), await seenWith(4), await seenWith(12)], [2, 4, 5]);
});

test.run();
