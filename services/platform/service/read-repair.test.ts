import assert from "node:assert/strict";
import { createLog } from "#platform/telemetry/log.ts";
import { suite } from "../../../test/harness/suite.ts";
import { ReadRepair } from "./read-repair.ts";

const test = suite("stale reads");
const reads = (everyMs: number) => new ReadRepair({ everyMs }, createLog("test", "fatal"));

test("readers of one object share a run; the next starts after the pause", async () => {
  const stale = reads(60_000);
  let runs = 0;
  const repair = async () => {
    runs += 1;
  };
  const done = await Promise.all(Array.from({ length: 5 }, () => stale.refresh("pay_1", repair)));
  assert.deepEqual(done, [true, true, true, true, true]);
  await stale.refresh("pay_1", repair);
  assert.equal(runs, 1);
  await stale.refresh("pay_2", repair);
  assert.equal(runs, 2);
});

test("a failing or endless repair delays a reader only briefly", async () => {
  const stale = reads(60_000);
  assert.equal(await stale.refresh("pay_1", () => Promise.reject(new Error("no answer"))), false);
  assert.equal(await stale.refresh("pay_2", () => new Promise(() => {})), false);
});

test("limits concurrent repairs", async () => {
  const stale = reads(60_000);
  let runs = 0;
  let end = () => {};
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  const repair = async () => {
    runs += 1;
    await gate;
  };
  const all = Array.from({ length: 100 }, (_, i) => stale.refresh(`pay_${i}`, repair));
  end();
  await Promise.all(all);
  assert.equal(runs, 20);
});

test.run();
